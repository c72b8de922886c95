package search

import (
	"strings"
	"unicode/utf8"
)

// An interval is one of characters, both of which belong to it.
type interval struct{ from, to rune }

// withoutSlash makes the sets in brackets of a valid pattern ones that no slash
// is in: doublestar takes one for any other character there, so that [^a] and
// [+-9] would cross folders.
func withoutSlash(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); {
		size := 1
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern):
			size = 2
		case pattern[i] == '[':
			members, negated, width := brackets(pattern[i:])
			writeBrackets(&b, members, negated)
			i += width
			continue
		}
		b.WriteString(pattern[i : i+size])
		i += size
	}
	return b.String()
}

// brackets reads a set: its members, and how many bytes it takes. A set that is
// not closed ends with the text.
func brackets(text string) (members []interval, negated bool, width int) {
	i := 1
	if i < len(text) && (text[i] == '!' || text[i] == '^') {
		negated = true
		i++
	}
	for i < len(text) && text[i] != ']' {
		low, size := member(text[i:])
		i += size
		high := low
		if i+1 < len(text) && text[i] == '-' && text[i+1] != ']' {
			high, size = member(text[i+1:])
			i += 1 + size
		}
		members = append(members, interval{low, high})
	}
	return members, negated, min(i+1, len(text))
}

// member reads one character of a set, after the backslash before it.
func member(text string) (rune, int) {
	if text[0] == '\\' && len(text) > 1 {
		char, size := utf8.DecodeRuneInString(text[1:])
		return char, size + 1
	}
	return utf8.DecodeRuneInString(text)
}

// writeBrackets writes a set without the slash. Each member is written as an
// interval, since what is after one is never taken for a part of it.
func writeBrackets(b *strings.Builder, members []interval, negated bool) {
	b.WriteByte('[')
	if negated {
		b.WriteByte('^')
		members = append(members, interval{'/', '/'})
	} else {
		members = exceptSlash(members)
	}
	for _, m := range members {
		b.WriteString(`\` + string(m.from) + `-\` + string(m.to))
	}
	b.WriteByte(']')
}

// exceptSlash takes the slash out. A set of which nothing is left holds the
// zero character, which is in no name.
func exceptSlash(members []interval) []interval {
	var kept []interval
	for _, m := range members {
		if m.to < '/' || m.from > '/' {
			kept = append(kept, m)
			continue
		}
		if m.from < '/' {
			kept = append(kept, interval{m.from, '/' - 1})
		}
		if m.to > '/' {
			kept = append(kept, interval{'/' + 1, m.to})
		}
	}
	if len(kept) == 0 {
		kept = append(kept, interval{})
	}
	return kept
}
