package search

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// classes sort the characters beyond ASCII into those that a program cannot
// tell apart. They are the first character of each class but the first.
type classes []rune

// classesOf are those of a program.
func classesOf(program *syntax.Prog) classes {
	var c classes
	add := func(lo, hi rune) { c = append(c, lo, hi+1) }
	for i := range program.Inst {
		inst := &program.Inst[i]
		switch inst.Op {
		case syntax.InstRune, syntax.InstRune1:
		default:
			continue
		}
		if len(inst.Rune) == 1 { // it may stand for its other cases, too
			first := inst.Rune[0]
			add(first, first)
			for r := unicode.SimpleFold(first); r != first; r = unicode.SimpleFold(r) {
				add(r, r)
			}
		}
		for k := 0; k+1 < len(inst.Rune); k += 2 {
			add(inst.Rune[k], inst.Rune[k+1])
		}
	}
	c = slices.DeleteFunc(c, func(r rune) bool { return r <= utf8.RuneSelf })
	slices.Sort(c)
	return slices.Clip(slices.Compact(c))
}

// of is the number of a character's class.
func (c classes) of(r rune) int {
	at, found := slices.BinarySearch(c, r)
	if found {
		at++
	}
	return at
}
