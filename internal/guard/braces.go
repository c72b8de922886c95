package guard

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// split is a word with its braces read. It is another one: the rest of the package
// that it comes from knows no braces, and the same word may come again. The time
// that it takes grows with the square of the braces, so of too many none are read.
func split(w *syntax.Word) *syntax.Word {
	const maxBraces = 64
	braces := 0
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			braces += strings.Count(lit.Value, "{")
		}
	}
	if braces == 0 || braces > maxBraces {
		return w
	}
	other := *w
	syntax.SplitBraces(&other)
	return &other
}

// braces gives the alternatives of a word with braces.
func (l *look) braces(parts []syntax.WordPart, depth int) [][]syntax.WordPart {
	const maxLists = 16
	isList := func(part syntax.WordPart) bool {
		exp, ok := part.(*syntax.BraceExp)
		return ok && !exp.Sequence && depth < maxLists
	}
	out := [][]syntax.WordPart{nil}
	for len(parts) > 0 {
		plain := slices.IndexFunc(parts, isList)
		if plain < 0 {
			plain = len(parts)
		}
		choices := [][]syntax.WordPart{parts[:plain]}
		if plain == 0 {
			choices = nil
			for _, elem := range parts[0].(*syntax.BraceExp).Elems {
				choices = append(choices, l.braces(elem.Parts, depth+1)...)
			}
			plain = 1
		}
		parts = parts[plain:]
		var longer [][]syntax.WordPart
		for _, start := range out {
			for _, choice := range choices {
				if len(longer) < maxFields && !l.spend(1+(len(start)+len(choice))/8) {
					longer = append(longer, slices.Concat(start, choice))
				}
			}
		}
		out = longer
	}
	return out
}
