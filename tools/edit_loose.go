package tools

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A looseness is how much of a difference is left aside.
type looseness int

const (
	// looseSpace leaves aside white space at the start and the end of lines.
	looseSpace looseness = iota
	// looseForm leaves aside as well how much white space there is within
	// lines, whether quotes and dashes are typographic, and how characters
	// with accents are composed.
	looseForm
)

// String says what is left aside.
func (l looseness) String() string {
	if l == looseSpace {
		return "white space at the start or end of lines"
	}
	return "white space, the kind of quotes or dashes, or the form of accents"
}

// A loose text is one in which what is left aside is gone or the same, with
// where each byte of it comes from: a part of the original.
type loose struct {
	text     string
	from, to []int32
}

// loosen makes a text loose. It is at most a few MiB long.
func loosen(text string, how looseness) loose {
	w := looseWriter{how: how}
	w.text.Grow(len(text))
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i
		}
		w.line(text[at:end], at)
		if end < len(text) {
			w.add("\n", end, end+1)
			end++
		}
		at = end
	}
	return loose{w.text.String(), w.from, w.to}
}

type looseWriter struct {
	how      looseness
	text     strings.Builder
	from, to []int32
}

func (w *looseWriter) add(text string, from, to int) {
	w.text.WriteString(text)
	for range len(text) {
		w.from, w.to = append(w.from, int32(from)), append(w.to, int32(to))
	}
}

// line adds one line, which starts at a place of the original.
func (w *looseWriter) line(l string, at int) {
	if at == 0 && strings.HasPrefix(l, bom) { // it stands before what the line starts with
		l, at = l[len(bom):], len(bom)
	}
	start, end := w.trim(l)
	l, at = l[start:end], at+start
	if w.how == looseSpace {
		for i := range len(l) {
			w.add(l[i:i+1], at+i, at+i+1)
		}
		return
	}
	for i := 0; i < len(l); {
		if n := len(l[i:]) - len(strings.TrimLeftFunc(l[i:], isBlank)); n > 0 {
			w.add(" ", at+i, at+i+n)
			i += n
			continue
		}
		n := character(l[i:])
		w.add(plain(l[i:i+n]), at+i, at+i+n)
		i += n
	}
}

// trim tells which part of a line counts.
func (w *looseWriter) trim(l string) (start, end int) {
	blank := isBlank
	if w.how == looseSpace {
		blank = func(r rune) bool { return r == ' ' || r == '\t' }
	}
	start = len(l) - len(strings.TrimLeftFunc(l, blank))
	if start == len(l) {
		return start, start
	}
	return start, len(strings.TrimRightFunc(l, blank))
}

// isBlank tells white space within a line, as people see it.
func isBlank(r rune) bool { return r == '\t' || unicode.Is(unicode.Zs, r) }

// character is the length of the first character of s, with the accents that
// belong to it.
func character(s string) int {
	if len(s) == 1 || s[0] < utf8.RuneSelf && s[1] < utf8.RuneSelf {
		return 1
	}
	n := norm.NFC.NextBoundaryInString(s, true)
	if n <= 0 {
		_, n = utf8.DecodeRuneInString(s)
	}
	return n
}

// plain is a character in its usual form.
func plain(c string) string {
	if isASCII(c) {
		return c
	}
	switch c {
	case "‘", "’", "‚", "‛", "′":
		return "'"
	case "“", "”", "„", "‟", "″":
		return `"`
	case "‐", "‑", "‒", "–", "—", "―", "−":
		return "-"
	case "…":
		return "..."
	}
	return norm.NFC.String(c)
}
