package search

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxPattern is the length of the longest regular expression in bytes.
const maxPattern = 4096

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
	tree = carriage(tree)
	p := &Pattern{multiline: opts.Multiline}
	if p.re, err = regexp.Compile(tree.String()); err != nil {
		return nil, explain(err)
	}
	if opts.Multiline {
		if p.later, err = regexp.Compile(`\A(?s:.)(?s:.*?)(` + tree.String() + `)`); err != nil {
			return nil, explain(err)
		}
	}
	p.prepare(tree)
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

// carriage lets the end of a line stand before a CR, too: lines end in CRLF as
// well as in LF.
func carriage(re *syntax.Regexp) *syntax.Regexp {
	for i, sub := range re.Sub {
		re.Sub[i] = carriage(sub)
	}
	if re.Op != syntax.OpEndLine {
		return re
	}
	cr := &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{'\r'}}
	optional := &syntax.Regexp{Op: syntax.OpQuest, Sub: []*syntax.Regexp{cr}}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{optional, {Op: syntax.OpEndLine}}}
}

// prepare chooses how lines are found. Text that every match holds is found
// fastest; where there is none, or only a single byte, an automaton passes over
// each byte once.
func (p *Pattern) prepare(tree *syntax.Regexp) {
	needles, plain := required(tree)
	for _, needle := range needles {
		p.needles = append(p.needles, []byte(needle))
	}
	p.plain = plain && len(needles) == 1
	if p.multiline || shortest(needles) >= 2 {
		return
	}
	p.needles, p.plain = nil, false
	if program, err := syntax.Compile(tree.Simplify()); err == nil {
		p.program = program
	}
}

// A matcher finds the lines of a text that match, for one goroutine.
type matcher struct {
	*Pattern
	auto *automaton
	next []int // where each needle comes next, in the text of the last call
	of   []byte
}

func (p *Pattern) matcher() *matcher {
	m := &matcher{Pattern: p, next: make([]int, len(p.needles))}
	if p.program != nil {
		m.auto = newAutomaton(p.program)
	}
	return m
}

// A span is a match within a text, the lines that it is in, without the last
// newline, and where the next may be.
type span struct{ begin, end, from, to, next int }

// reset gets ready for another text.
func (m *matcher) reset(text []byte) {
	m.of = text
	for i := range m.next {
		m.next[i] = -1
	}
}

// find gives the next match at or after a position, which is the beginning of
// the text or what the last span says.
func (m *matcher) find(at int) (span, bool) {
	for at < len(m.of) {
		hit, ok := m.candidate(at)
		if !ok {
			return span{}, false
		}
		if m.multiline {
			return m.across(at)
		}
		from, to := lineAround(m.of, at, hit)
		if m.plain {
			return span{hit, hit + len(m.needles[0]), from, to, to + 1}, true
		}
		if loc := m.re.FindIndex(m.of[from:to]); loc != nil {
			return span{from + loc[0], from + loc[1], from, to, to + 1}, true
		}
		at = to + 1
	}
	return span{}, false
}

// candidate is a position in the next line that may match.
func (m *matcher) candidate(at int) (int, bool) {
	switch {
	case len(m.needles) > 0:
		return m.needle(at)
	case m.auto != nil:
		return m.auto.find(m.of, at)
	default:
		return at, true
	}
}

// needle is where one of the needles comes next.
func (m *matcher) needle(at int) (int, bool) {
	nearest := len(m.of)
	for i, needle := range m.needles {
		if m.next[i] < at {
			m.next[i] = len(m.of)
			if rel := bytes.Index(m.of[at:], needle); rel >= 0 {
				m.next[i] = at + rel
			}
		}
		nearest = min(nearest, m.next[i])
	}
	return nearest, nearest < len(m.of)
}

// across finds a match that may span lines.
func (m *matcher) across(at int) (span, bool) {
	begin, end, ok := m.after(at)
	if !ok || begin == len(m.of) && begin > 0 && m.of[begin-1] == '\n' {
		return span{}, false // there is no line after the last newline
	}
	s := span{begin: begin, end: end, next: end}
	if end == begin {
		_, size := utf8.DecodeRune(m.of[end:])
		s.next += max(size, 1)
	} else if m.of[end-1] == '\n' {
		end-- // the newline belongs to the line that it ends
	}
	s.from, _ = lineAround(m.of, 0, begin)
	_, s.to = lineAround(m.of, s.from, end)
	return s, true
}

// after is the next match at or after a position.
func (m *matcher) after(at int) (begin, end int, ok bool) {
	if at == 0 {
		loc := m.re.FindIndex(m.of)
		if loc == nil {
			return 0, 0, false
		}
		return loc[0], loc[1], true
	}
	_, size := utf8.DecodeLastRune(m.of[:at])
	loc := m.later.FindSubmatchIndex(m.of[at-size:])
	if loc == nil {
		return 0, 0, false
	}
	return at - size + loc[2], at - size + loc[3], true
}

// lineAround gives the bounds of the line of a position, which lies at or after
// the beginning of a line.
func lineAround(text []byte, begin, at int) (from, to int) {
	from, to = begin, len(text)
	if i := bytes.LastIndexByte(text[begin:at], '\n'); i >= 0 {
		from = begin + i + 1
	}
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		to = at + i
	}
	return from, to
}
