package guard

import (
	"slices"
	"unicode"
)

// patterns makes the characters of a value that stands without quotes what the
// shell takes them for.
func (l *look) patterns(t text) text {
	l.spendText(len(t))
	out := make(text, 0, len(t))
	for len(t) > 0 {
		mark, size := l.pattern(t)
		out, t = append(out, mark), t[size:]
	}
	return out
}

// pattern reads a character, or what is a pattern, from the start of a text.
func (l *look) pattern(t text) (mark rune, size int) {
	switch t[0] {
	case '*':
		return star, 1
	case '?':
		return anyOne, 1
	case '[':
		if s, size := readSet(t); size > 0 {
			return l.setMark(s), size
		}
	}
	return t[0], 1
}

// maxSet bounds the characters between brackets. Where there are more of them it
// is no pattern, so that the end is not looked for again and again.
const maxSet = 64

// A set is the characters that a pattern in brackets stands for.
type set struct {
	source  string
	negated bool
	ranges  [][2]rune
	classes []func(rune) bool
}

// readSet reads one from the start of a text; a size of 0 is none.
func readSet(t text) (s set, size int) {
	t = t[:min(len(t), maxSet)]
	if slices.Index(t, ']') < 0 {
		return set{}, 0
	}
	i := 1
	if i < len(t) && (t[i] == '!' || t[i] == '^') {
		s.negated, i = true, i+1
	}
	for first := i; i < len(t); {
		if t[i] == ']' && i > first {
			s.source = string(t[:i+1])
			return s, i + 1
		}
		if name, n := className(t[i:]); n > 0 {
			s.classes, i = append(s.classes, classes(name)), i+n
			continue
		}
		if t[i] == '\\' && i+1 < len(t) {
			i++
		}
		from, to := t[i], t[i]
		if i++; i+1 < len(t) && t[i] == '-' && t[i+1] != ']' {
			to, i = t[i+1], i+2
		}
		if from < 0 || to < 0 || from == '/' || isSpace(from) {
			break
		}
		s.ranges = append(s.ranges, [2]rune{from, to})
	}
	return set{}, 0
}

// className reads [:name:] from the start of a text.
func className(t text) (name string, size int) {
	if len(t) < 2 || t[0] != '[' || t[1] != ':' {
		return "", 0
	}
	end := slices.Index(t[2:], ':')
	if end < 0 || end+3 >= len(t) || t[end+3] != ']' {
		return "", 0
	}
	return string(t[2 : end+2]), end + 4
}

// classes gives what a class of characters holds; of one that is not known that is
// nothing.
func classes(name string) func(rune) bool {
	switch name {
	case "alnum", "word":
		return func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	case "alpha":
		return unicode.IsLetter
	case "digit", "xdigit":
		return unicode.IsDigit
	case "lower":
		return unicode.IsLower
	case "upper":
		return unicode.IsUpper
	case "punct":
		return unicode.IsPunct
	case "graph", "print":
		return unicode.IsGraphic
	}
	return func(rune) bool { return false }
}

// holds tells whether a character is in a set.
func (s set) holds(r rune) bool {
	in := slices.ContainsFunc(s.ranges, func(pair [2]rune) bool { return pair[0] <= r && r <= pair[1] }) ||
		slices.ContainsFunc(s.classes, func(is func(rune) bool) bool { return is(r) })
	return in != s.negated
}

// wide tells a set that nearly every name begins with a character of. That one or
// two are left out makes no difference.
func (s set) wide() bool {
	missing := 0
	for r := 'a'; r <= 'z'; r++ {
		for _, letter := range [...]rune{r, unicode.ToUpper(r)} {
			if !s.holds(letter) {
				missing++
			}
		}
	}
	return missing <= 2
}

// setMark is the mark for a set.
func (l *look) setMark(s set) rune {
	mark, ok := l.marks[s.source] // which is no name
	if !ok {
		mark = firstSet - rune(len(l.sets))
		l.sets, l.marks[s.source] = append(l.sets, s), mark
	}
	return mark
}

// setOf gives what a mark for a set stands for.
func (l *look) setOf(mark rune) set { return l.sets[firstSet-mark] }

// narrow tells a part of a path that is not all there is.
func (l *look) narrow(part text) bool {
	wide := false
	for _, r := range part {
		switch {
		case r == star || r == every:
			wide = true
		case r == anyOne || r <= firstSet && l.setOf(r).wide():
		default:
			return true
		}
	}
	return !wide
}

// matches tells whether a name is one of those that a part of a path stands for,
// as a shell finds them: a dot at the start is matched by a dot alone. What is
// not known stands for nothing.
func (l *look) matches(part, name text) bool {
	if len(part) > 0 && part[0] < 0 && part[0] != every && name[0] == '.' {
		return false
	}
	return l.like(part, name)
}

// like tells whether a text is one that a pattern stands for. It is the usual way to
// match a star: go on, and come back to the last one.
func (l *look) like(pattern, t text) bool {
	at, back, from := 0, -1, 0
	for i := 0; i < len(t); {
		switch {
		case at < len(pattern) && (pattern[at] == star || pattern[at] == every):
			back, from = at, i
			at++
			continue
		case at < len(pattern) && l.isOne(pattern[at], t[i]):
			at++
			i++
			continue
		case back < 0:
			return false
		}
		from++
		at, i = back+1, from
	}
	for at < len(pattern) && (pattern[at] == star || pattern[at] == every) {
		at++
	}
	return at == len(pattern)
}

// isOne tells whether a character of a pattern stands for another.
func (l *look) isOne(p, r rune) bool {
	return p == r || p == anyOne || p <= firstSet && l.setOf(p).holds(r)
}
