package search

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"unicode/utf8"
)

// A matcher finds the lines of a text that match, for one goroutine.
type matcher struct {
	*Pattern
	ctx  context.Context // the search's: a matcher lives no longer
	auto *automaton
	next []int // where each needle comes next, in the text of the last call
	of   []byte
}

func (p *Pattern) matcher(ctx context.Context) *matcher {
	m := &matcher{Pattern: p, ctx: ctx, next: make([]int, len(p.needles))}
	if p.program != nil {
		m.auto = newAutomaton(ctx, p.program)
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
// the text or what the last span says. When the context is done it gives none.
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
		line := m.of[from:to]
		if m.crlf {
			line = bytes.TrimSuffix(line, []byte("\r"))
		}
		if loc := m.submatch(m.re, line); loc != nil {
			return span{from + loc[0], from + loc[1], from, to, to + 1}, true
		}
		if m.ctx.Err() != nil {
			return span{}, false
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
		loc := m.submatch(m.re, m.of)
		if loc == nil {
			return 0, 0, false
		}
		return loc[0], loc[1], true
	}
	_, size := utf8.DecodeLastRune(m.of[:at])
	loc := m.submatch(m.later, m.of[at-size:])
	if loc == nil {
		return 0, 0, false
	}
	return at - size + loc[2], at - size + loc[3], true
}

// stretchSteps is how many steps an expression takes at a stretch, about: those
// for one character may be as many as its program is long.
const stretchSteps = 1 << 20

// submatch is FindSubmatchIndex, which ends with nothing when the context is
// done.
func (m *matcher) submatch(re *regexp.Regexp, text []byte) []int {
	if len(text) <= m.stretch {
		return re.FindSubmatchIndex(text)
	}
	r := &runeReader{ctx: m.ctx, text: text, stretch: m.stretch}
	loc := re.FindReaderSubmatchIndex(r)
	if m.ctx.Err() != nil {
		return nil
	}
	return loc
}

// A runeReader reads characters until the context is done.
type runeReader struct {
	ctx     context.Context
	text    []byte
	stretch int // how many characters are read between two looks at the context
	read    int // characters
}

// ReadRune implements [io.RuneReader].
func (r *runeReader) ReadRune() (rune, int, error) {
	if r.read++; r.read%r.stretch == 0 && r.ctx.Err() != nil || len(r.text) == 0 {
		return 0, 0, io.EOF
	}
	char, size := utf8.DecodeRune(r.text)
	r.text = r.text[size:]
	return char, size, nil
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
