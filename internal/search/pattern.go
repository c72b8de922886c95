package search

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

const (
	// maxPattern is the length of the longest regular expression in bytes.
	maxPattern = 4096
	// maxInstructions is the size of the largest program that one may become: a count
	// multiplies what it stands behind.
	maxInstructions = 20_000
)

// A Pattern is a compiled regular expression for lines, or for whole files
// where it is Multiline. It does not change; each goroutine makes a matcher of
// its own from it.
type Pattern struct {
	re *regexp.Regexp
	// later is the same after at least one character, so that what is before a
	// match counts: nil unless it is Multiline.
	later *regexp.Regexp
	// needles: every match holds one of them, when there are some.
	needles [][]byte
	// plain: a match is the one needle and nothing else.
	plain     bool
	program   *syntax.Prog // nil where lines are not found by an automaton
	multiline bool
	// crlf: a CR at the end of a line is a part of its end, and no character of
	// the line, as long as the pattern does not name it.
	crlf    bool
	stretch int // how many characters are matched between two looks at the context
}

// PatternOptions say how a pattern is meant.
type PatternOptions struct {
	IgnoreCase bool
	Multiline  bool // a match may span lines, and a dot takes newlines, too
}

// NewPattern compiles a pattern in RE2 syntax. The error is in words for who
// wrote it.
func NewPattern(text string, opts PatternOptions) (*Pattern, error) {
	if text == "" {
		return nil, errors.New("the pattern is empty: it would match every line")
	}
	if len(text) > maxPattern {
		return nil, fmt.Errorf("the pattern has more than %d bytes", maxPattern)
	}
	flags := syntax.Perl &^ syntax.OneLine // ^ and $ are those of lines
	if opts.IgnoreCase {
		flags |= syntax.FoldCase
	}
	if opts.Multiline {
		flags |= syntax.DotNL
	}
	tree, err := syntax.Parse(text, flags)
	if err != nil {
		return nil, explain(err)
	}
	if !opts.Multiline && !byLine(tree) {
		return nil, errors.New("the pattern has a newline, and lines are matched one by one: set multiline")
	}
	named := namesCR(tree)
	tree = carriage(tree)
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, explain(err)
	}
	if len(program.Inst) > maxInstructions {
		return nil, errors.New("the pattern is too large: lower the counts in braces")
	}
	p := &Pattern{multiline: opts.Multiline, crlf: !named, stretch: max(1, stretchSteps/len(program.Inst))}
	if p.re, err = regexp.Compile(tree.String()); err != nil {
		return nil, explain(err)
	}
	if opts.Multiline {
		if p.later, err = regexp.Compile(`\A(?s:.)(?s:.*?)(` + tree.String() + `)`); err != nil {
			return nil, explain(err)
		}
	}
	p.prepare(tree, program)
	return p, nil
}

// explain adds to an error what may have been meant.
func explain(err error) error {
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return err
	}
	hint := "escape characters that are meant themselves, or set literal"
	switch {
	case bad.Code == syntax.ErrInvalidPerlOp || strings.HasPrefix(bad.Expr, "(?"):
		hint = "RE2 has no lookaround; match more and choose among the results"
	case bad.Code == syntax.ErrInvalidEscape:
		hint = `RE2 has no backreferences, and in JSON a backslash is written \\`
	}
	return fmt.Errorf("the pattern is no regular expression (RE2): %s: %q; %s", bad.Code, bad.Expr, hint)
}

// byLine keeps a pattern from crossing a line end, and makes the bounds of the
// text those of the line. It tells whether a match is left at all: a newline
// that must be there is none.
func byLine(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op = syntax.OpEndLine
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r == '\n' {
				return false
			}
		}
	case syntax.OpCharClass:
		re.Rune = withoutNewline(re.Rune)
		if len(re.Rune) == 0 {
			return false
		}
	}
	for _, sub := range re.Sub {
		if !byLine(sub) {
			return false
		}
	}
	return true
}

// withoutNewline takes the newline out of ranges of characters.
func withoutNewline(ranges []rune) []rune {
	var kept []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if hi < '\n' || lo > '\n' {
			kept = append(kept, lo, hi)
			continue
		}
		if lo < '\n' {
			kept = append(kept, lo, '\n'-1)
		}
		if hi > '\n' {
			kept = append(kept, '\n'+1, hi)
		}
	}
	return kept
}

// carriage lets the end of a line stand before a CR, too, and a newline in a
// text be a CRLF: lines end in either.
func carriage(re *syntax.Regexp) *syntax.Regexp {
	for i, sub := range re.Sub {
		re.Sub[i] = carriage(sub)
	}
	switch re.Op {
	case syntax.OpEndLine:
		return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{optionalCR(), re}}
	case syntax.OpLiteral:
		return newlines(re)
	default:
		return re
	}
}

// namesCR tells whether a pattern asks for a CR itself.
func namesCR(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\r')
	case syntax.OpCharClass:
		// In a set of all white space, or of all but something, it is not what
		// is asked for. The form feed tells those from [ \t\r].
		return holds(re.Rune, '\r') && !holds(re.Rune, '\f')
	}
	return slices.ContainsFunc(re.Sub, namesCR)
}

// holds tells whether ranges of characters hold one.
func holds(ranges []rune, char rune) bool {
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i] <= char && char <= ranges[i+1] {
			return true
		}
	}
	return false
}

func optionalCR() *syntax.Regexp {
	cr := &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{'\r'}}
	return &syntax.Regexp{Op: syntax.OpQuest, Sub: []*syntax.Regexp{cr}}
}

// newlines lets a CR stand before each newline of a text that has none there.
func newlines(re *syntax.Regexp) *syntax.Regexp {
	whole := &syntax.Regexp{Op: syntax.OpConcat}
	start := 0
	for i, r := range re.Rune {
		if r != '\n' || i > 0 && re.Rune[i-1] == '\r' {
			continue
		}
		if i > start {
			whole.Sub = append(whole.Sub, &syntax.Regexp{Op: syntax.OpLiteral, Flags: re.Flags, Rune: re.Rune[start:i]})
		}
		whole.Sub = append(whole.Sub, optionalCR())
		start = i
	}
	if len(whole.Sub) == 0 {
		return re
	}
	whole.Sub = append(whole.Sub, &syntax.Regexp{Op: syntax.OpLiteral, Flags: re.Flags, Rune: re.Rune[start:]})
	return whole
}

// prepare chooses how lines are found. Text that every match holds is found
// fastest; where there is none, or only a single byte, an automaton passes over
// each byte once.
func (p *Pattern) prepare(tree *syntax.Regexp, program *syntax.Prog) {
	needles, plain := required(tree)
	for _, needle := range needles {
		p.needles = append(p.needles, []byte(needle))
	}
	p.plain = plain && len(needles) == 1
	if p.multiline || shortest(needles) >= 2 {
		return
	}
	p.needles, p.plain = nil, false
	if len(program.Inst) <= maxProgram {
		p.program = program
	}
}
