package guard

import "strings"

// escapes reads the escapes of echo -e, printf and $'…'. A NUL, which no value
// can hold, stands between texts as the end of a line does.
func escapes(t text) text {
	if !t.has('\\') {
		return t
	}
	out := make(text, 0, len(t))
	for len(t) > 0 {
		if t[0] != '\\' || len(t) == 1 {
			out, t = append(out, t[0]), t[1:]
			continue
		}
		r, size := escaped(t[1:])
		if r == 0 {
			r = '\n'
		}
		if size == 0 {
			out = append(out, t[0])
			r, size = t[1], 1
		}
		out, t = append(out, r), t[1+size:]
	}
	return out
}

// escaped reads the character that stands behind a backslash; a size of 0 is none.
func escaped(t text) (r rune, size int) {
	switch t[0] {
	case 'n':
		return '\n', 1
	case 't':
		return '\t', 1
	case '\\', '\'', '"', '/', '?':
		return t[0], 1
	case 'x':
		if r, size = number(t[1:], 16, 2); size > 0 {
			return r, size + 1
		}
		return 0, 0
	case 'u':
		if r, size = number(t[1:], 16, 4); size > 0 {
			return r, size + 1
		}
		return 0, 0
	case '0':
		r, size = number(t[1:], 8, 3)
		return r, size + 1
	}
	return number(t, 8, 3)
}

// number reads so many digits.
func number(t text, base rune, most int) (r rune, size int) {
	const digits = "0123456789abcdef"
	for size < most && size < len(t) {
		at := strings.IndexRune(digits[:base], lower(t[size]))
		if at < 0 {
			break
		}
		r, size = r*base+rune(at), size+1
	}
	return r, size
}

func lower(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}
