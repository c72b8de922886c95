package output

import (
	"bytes"
	"io"
)

// longLine is how much of a line a Cleaner holds back, in bytes. What is longer
// is passed on unfinished, and a later redraw leaves it there.
const longLine = 64 << 10

// A Cleaner is an [io.Writer] that cleans what is written to it and passes it
// on in whole lines. It is not safe for concurrent use.
type Cleaner struct {
	clean cleaner
	lines passed
}

// NewCleaner makes a Cleaner that passes on to w.
func NewCleaner(w io.Writer) *Cleaner { return &Cleaner{lines: passed{to: w}} }

// Write takes the next bytes. It fails when the writer below does, for ever.
func (c *Cleaner) Write(p []byte) (int, error) {
	c.clean.write(p, &c.lines)
	return len(p), c.lines.err
}

// Flush ends the text and passes on its last line.
func (c *Cleaner) Flush() error {
	c.clean.flush(&c.lines)
	c.lines.pass(c.lines.held.Len())
	return c.lines.err
}

// passed is a sink that passes on all but the current line.
type passed struct {
	to   io.Writer
	held bytes.Buffer // the current line
	err  error
}

func (s *passed) text(p []byte) {
	before := s.held.Len()
	s.held.Write(p)
	switch i := bytes.LastIndexByte(p, '\n'); {
	case i >= 0:
		s.pass(before + i + 1)
	case s.held.Len() > longLine:
		s.pass(s.held.Len())
	}
}

func (s *passed) clear() { s.held.Reset() }

// pass writes the first n bytes of what is held.
func (s *passed) pass(n int) {
	p := s.held.Next(n)
	if s.err == nil && n > 0 {
		_, s.err = s.to.Write(p)
	}
}
