package search

import (
	"context"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// An automaton finds lines that match, byte by byte: it makes the states of a
// deterministic automaton from the program of a regular expression as it meets
// them. It only tells the line; the expression itself tells what of it matches.
// It belongs to one goroutine.
type automaton struct {
	ctx     context.Context // the search's: an automaton lives no longer
	program *syntax.Prog
	classes classes
	states  map[string]*state
	start   *state // at the beginning of a line
	found   *state // the line matches, whatever follows
	// overflow is set when there were too many states or steps: it is not used
	// then.
	overflow bool
	steps    int // that states know for characters beyond ASCII

	seen  []bool // scratch: the instructions met in a closure
	stack []uint32
}

// maxProgram is the size of the largest program that an automaton is made of,
// maxStates bounds the states, and maxSteps the steps that they know for
// characters beyond ASCII: a few megabytes together. Every so much text it asks
// whether to go on.
const (
	maxProgram = 2000
	maxStates  = 1000
	maxSteps   = 64 << 10
	askedEvery = 4 << 10
)

// A state is a set of instructions that wait for a character, and what came
// before it.
type state struct {
	waiting []uint32
	before  rune // a newline, or a character that is or is not one of words
	next    [utf8.RuneSelf]*state
	further map[int]*state // by the class of the character
}

func newAutomaton(ctx context.Context, program *syntax.Prog) *automaton {
	a := &automaton{ctx: ctx, program: program, classes: classesOf(program), states: make(map[string]*state), found: new(state), seen: make([]bool, len(program.Inst))}
	a.start = a.state(nil, '\n')
	return a
}

// find gives a position in the next line at or after a position, the beginning
// of a line, that matches. When the context is done there is none.
func (a *automaton) find(text []byte, at int) (int, bool) {
	if a.overflow {
		return at, true // every line is a candidate
	}
	s := a.start
	ask := at + askedEvery
	for i := at; i < len(text); {
		if i >= ask {
			if a.ctx.Err() != nil {
				return 0, false
			}
			ask = i + askedEvery
		}
		c, size := text[i], 1
		var next *state
		if c < utf8.RuneSelf {
			if next = s.next[c]; next == nil {
				next = a.step(s, rune(c))
				s.next[c] = next
			}
		} else {
			next, size = a.further(s, text[i:])
		}
		if next == a.found {
			return i, true
		}
		if a.overflow {
			return lineStart(text, at, i), true
		}
		s = next
		i += size
	}
	if len(text) > at && text[len(text)-1] != '\n' && a.step(s, '\n') == a.found {
		return len(text) - 1, true
	}
	return 0, false
}

func lineStart(text []byte, begin, at int) int {
	from, _ := lineAround(text, begin, at)
	return from
}

// further steps over a character beyond ASCII, or a byte that is not UTF-8,
// which the expression takes for the replacement character.
func (a *automaton) further(s *state, text []byte) (*state, int) {
	r, size := utf8.DecodeRune(text)
	class := a.classes.of(r)
	next := s.further[class]
	if next == nil {
		next = a.step(s, r)
		if s.further == nil {
			s.further = make(map[int]*state)
		}
		s.further[class] = next
		if a.steps++; a.steps > maxSteps {
			a.overflow = true
		}
	}
	return next, size
}

// step makes the state after a character. At a newline the line is over: it
// has matched or not.
func (a *automaton) step(s *state, r rune) *state {
	clear(a.seen)
	flags := syntax.EmptyOpContext(s.before, r)
	if s.before == '\n' {
		flags |= syntax.EmptyBeginText
	}
	if r == '\n' {
		flags |= syntax.EmptyEndText
	}
	var after []uint32
	matched := false
	for _, pc := range append(s.waiting, uint32(a.program.Start)) {
		after, matched = a.close(after, pc, flags, r)
		if matched {
			return a.found
		}
	}
	if r == '\n' {
		return a.start
	}
	slices.Sort(after)
	return a.state(slices.Compact(after), kindBefore(r))
}

// kindBefore stands for all characters that what comes after cannot tell apart.
func kindBefore(r rune) rune {
	if syntax.IsWordChar(r) {
		return 'w'
	}
	return ' '
}

// close follows what needs no character from an instruction on, and takes the
// character where one is waited for.
func (a *automaton) close(after []uint32, pc uint32, flags syntax.EmptyOp, r rune) ([]uint32, bool) {
	a.stack = append(a.stack[:0], pc)
	for len(a.stack) > 0 {
		pc = a.stack[len(a.stack)-1]
		a.stack = a.stack[:len(a.stack)-1]
		if a.seen[pc] {
			continue
		}
		a.seen[pc] = true
		inst := &a.program.Inst[pc]
		switch inst.Op {
		case syntax.InstMatch:
			return after, true
		case syntax.InstAlt, syntax.InstAltMatch:
			a.stack = append(a.stack, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			a.stack = append(a.stack, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^flags == 0 {
				a.stack = append(a.stack, inst.Out)
			}
		case syntax.InstFail:
		default:
			if r != '\n' && inst.MatchRune(r) {
				after = append(after, inst.Out)
			}
		}
	}
	return after, false
}

// state finds or makes a state.
func (a *automaton) state(waiting []uint32, before rune) *state {
	key := make([]byte, 0, 4*len(waiting)+1)
	for _, pc := range waiting {
		key = append(key, byte(pc), byte(pc>>8), byte(pc>>16), byte(pc>>24))
	}
	key = append(key, byte(before))
	if s := a.states[string(key)]; s != nil {
		return s
	}
	if len(a.states) >= maxStates {
		a.overflow = true
	}
	s := &state{waiting: slices.Clip(waiting), before: before}
	a.states[string(key)] = s
	return s
}
