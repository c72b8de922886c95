package search

import (
	"regexp/syntax"
	"unicode/utf8"
)

// maxNeedles is how many texts are looked for at most: each is a pass over the
// file.
const maxNeedles = 8

// required gives texts of which every match holds at least one, or none where
// nothing of that kind is known. exact tells that a match is one of them and
// nothing else.
func required(re *syntax.Regexp) (needles []string, exact bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return literal(re)
	case syntax.OpCapture:
		return required(re.Sub[0])
	case syntax.OpPlus:
		needles, _ = required(re.Sub[0])
		return needles, false
	case syntax.OpRepeat:
		if re.Min > 0 {
			needles, _ = required(re.Sub[0])
		}
		return needles, false
	case syntax.OpConcat:
		return concatenation(re.Sub)
	case syntax.OpAlternate:
		return alternation(re.Sub)
	default:
		return nil, false
	}
}

// literal is the text of a literal. In another case it may have another form,
// and the replacement character also matches bytes that are not UTF-8.
func literal(re *syntax.Regexp) ([]string, bool) {
	if re.Flags&syntax.FoldCase != 0 {
		return nil, false
	}
	for _, r := range re.Rune {
		if r == utf8.RuneError {
			return nil, false
		}
	}
	return []string{string(re.Rune)}, true
}

// concatenation takes the best of what stands one after the other; single
// texts that follow each other are one.
func concatenation(subs []*syntax.Regexp) (best []string, exact bool) {
	run, allExact := "", true
	take := func(needles []string) {
		if better(needles, best) {
			best = needles
		}
	}
	for _, sub := range subs {
		needles, subExact := required(sub)
		if subExact && len(needles) == 1 {
			run += needles[0]
			continue
		}
		allExact = false
		take([]string{run})
		take(needles)
		run = ""
	}
	take([]string{run})
	return best, allExact
}

func alternation(subs []*syntax.Regexp) (all []string, exact bool) {
	exact = true
	for _, sub := range subs {
		needles, subExact := required(sub)
		if len(needles) == 0 {
			return nil, false
		}
		exact = exact && subExact
		all = append(all, needles...)
	}
	if len(all) > maxNeedles {
		return nil, false
	}
	return all, exact
}

// better prefers needles of which the shortest is longer, then fewer.
func better(a, b []string) bool {
	la, lb := shortest(a), shortest(b)
	return la > lb || la == lb && la > 0 && len(a) < len(b)
}

func shortest(needles []string) int {
	least := 0
	for i, needle := range needles {
		if i == 0 || len(needle) < least {
			least = len(needle)
		}
	}
	return least
}
