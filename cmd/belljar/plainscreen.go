package main

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// maxBehind is how much output is kept while a question stands.
const maxBehind = 1 << 20

// A plainScreen is a terminal that a command writes to as it likes. While a
// question stands on it the command's output is kept, so that it can neither
// cover the question nor put another one in its place, and the command goes on;
// only when there is too much of it does it wait.
type plainScreen struct {
	out   io.Writer // takes the questions
	plain bool      // it understands no escape sequences

	mu     sync.Mutex    // held by who writes
	over   chan struct{} // closed when the question that stands is over; nil where none does
	behind []piece       // what is written once it is over
	kept   int           // bytes in behind
	err    error         // the first failure to write what was kept
}

// A piece is output that was kept.
type piece struct {
	next io.Writer
	data []byte
}

// show shows a question, and calls ready right before.
func (s *plainScreen) show(question string, ready func()) (done func(answered bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.plain {
		question = "\x1b[0m" + question // the command may have left a colour that hides it
	}
	ready()
	fmt.Fprint(s.out, question)
	s.over = make(chan struct{})
	return s.done
}

// done ends a question and writes what has come while it stood.
func (s *plainScreen) done(answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !answered {
		fmt.Fprintln(s.out)
	}
	for _, p := range s.behind {
		if _, err := p.next.Write(p.data); err != nil && s.err == nil {
			s.err = err
		}
	}
	s.behind, s.kept = nil, 0
	close(s.over)
	s.over = nil
}

// failure is why output that was kept could not be written, which no Write told.
func (s *plainScreen) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// wrap gives the command's two streams, which stay one value where they are.
func (s *plainScreen) wrap(stdout, stderr io.Writer) (io.Writer, io.Writer) {
	first := &waitingWriter{s, stdout}
	if stdout == stderr {
		return first, first
	}
	return first, &waitingWriter{s, stderr}
}

// A waitingWriter writes when no question stands.
type waitingWriter struct {
	screen *plainScreen
	next   io.Writer
}

func (w *waitingWriter) Write(p []byte) (int, error) {
	s := w.screen
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.over != nil && s.kept+len(p) > maxBehind {
		over := s.over
		s.mu.Unlock()
		<-over
		s.mu.Lock()
	}
	if s.over != nil {
		s.behind, s.kept = append(s.behind, piece{w.next, bytes.Clone(p)}), s.kept+len(p)
		return len(p), nil
	}
	return w.next.Write(p)
}
