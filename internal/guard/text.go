package guard

import (
	"slices"
	"strings"
	"unicode"
)

// A text is what a word comes to: characters, and marks, which are negative, for
// what is not a character.
type text []rune

// The marks. A variable that the script has not set may well be empty.
const (
	anything   rune = -1 - iota // some text that is not known
	downloaded                  // some text that came over the network
	star                        // a pattern for any names
	anyOne                      // a pattern for any character
	every                       // the paths of all files in a folder, however deep
	loose                       // stands behind what is empty without quotes, so that it is no word
)

// The first marks of those that stand for one of many: variables that were not
// set, and sets of characters. They go downwards.
const (
	firstUnset rune = -100
	firstSet   rune = -1 << 24
)

// isUnset tells the mark for a variable that was not set.
func isUnset(r rune) bool { return r <= firstUnset && r > firstSet }

// equal compares texts. Most are the same one, however long.
func (t text) equal(u text) bool {
	return len(t) == len(u) && (len(t) == 0 || &t[0] == &u[0] || slices.Equal(t, u))
}

// known tells whether a text has no marks.
func (t text) known() bool { return !slices.ContainsFunc(t, func(r rune) bool { return r < 0 }) }

// has tells whether a text has a mark.
func (t text) has(mark rune) bool { return slices.Contains(t, mark) }

// is compares a text that is known with a string.
func (t text) is(s string) bool { return len(t) <= len(s) && t.known() && string(t) == s }

// hasPrefix tells whether a text begins with a string.
func (t text) hasPrefix(s string) bool {
	prefix := []rune(s)
	return len(t) >= len(prefix) && slices.Equal(t[:len(prefix)], text(prefix))
}

// filled is a text in which what was never set is empty, as it is for the shell.
func (t text) filled() text {
	return slices.DeleteFunc(slices.Clone(t), func(r rune) bool { return isUnset(r) || r == loose })
}

// part is a part of a text of which only that is known: all names are some then.
func (t text) part() text {
	t = slices.Clone(t)
	for i, r := range t {
		if r == star || r == every {
			t[i] = anything
		}
	}
	return t
}

// bounded cuts what is longer than a value may be.
func (t text) bounded() text {
	if len(t) <= maxText {
		return t
	}
	return append(slices.Clip(t[:maxText]), anything)
}

// split divides a text at white space.
func (t text) split() []text {
	var fields []text
	for len(t) > 0 && len(fields) < maxFields {
		start := slices.IndexFunc(t, func(r rune) bool { return !isSpace(r) })
		if start < 0 {
			break
		}
		t = t[start:]
		end := slices.IndexFunc(t, isSpace)
		if end < 0 {
			end = len(t)
		}
		fields, t = append(fields, t[:end:end]), t[end:]
	}
	return fields
}

func isSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }

// join joins texts with a character between.
func join(list []text, between rune) text {
	var out text
	for i, t := range list {
		if len(out) > maxText {
			break
		}
		if i > 0 {
			out = append(out, between)
		}
		out = append(out, t...)
	}
	return out.bounded()
}

// maxShown bounds what is shown of a command, in characters.
const maxShown = 120

// show writes texts as a person would. What is secret goes before the text is cut:
// a part of it would be found by nobody.
func (l *look) show(list ...text) string {
	var b strings.Builder
	for _, r := range join(list, ' ') {
		b.WriteString(l.shown(r))
	}
	whole := b.String()
	if l.place.Mask != nil {
		whole = l.place.Mask(whole)
	}
	n := 0
	whole = strings.Map(func(r rune) rune {
		switch n++; {
		case n > maxShown+1:
			return -1
		case n > maxShown:
			return '…'
		case r == '\n' || !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, whole)
	return whole
}

func (l *look) shown(r rune) string {
	switch {
	case isUnset(r):
		return "$" + l.unset[firstUnset-r]
	case r <= firstSet:
		return l.setOf(r).source
	case r == star:
		return "*"
	case r == every:
		return "**"
	case r == anyOne:
		return "?"
	case r == loose:
		return ""
	case r < 0:
		return "…"
	default:
		return string(r)
	}
}

// unsetMark is the mark for a variable that was not set.
func (l *look) unsetMark(name string) rune {
	mark, ok := l.marks[name]
	if !ok {
		mark = firstUnset - rune(len(l.unset))
		l.unset, l.marks[name] = append(l.unset, name), mark
	}
	return mark
}

// unsetIn names a variable of a text that was not set.
func (l *look) unsetIn(t text) (name string, ok bool) {
	at := slices.IndexFunc(t, isUnset)
	if at < 0 {
		return "", false
	}
	return l.unset[firstUnset-t[at]], true
}
