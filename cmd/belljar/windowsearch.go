package main

import (
	"context"
	"time"

	"github.com/belljar/belljar/agent/model/openai"
)

// A windowSearch finds out of the model's server what the model takes, beside a
// run. It is asked at once, and once more after the first answer where it said
// nothing, or what may be in force for another client only. A nil one finds
// nothing. One goroutine uses it; close it.
type windowSearch struct {
	ask  func() *windowQuestion
	open *windowQuestion // the answer is not taken yet; nil is none
	late bool            // the open question was asked after an answer of the model
	done bool            // there is no more to find
}

// searchWindow begins the search, unless the number is known or nobody can be
// asked.
func (m *chosenModel) searchWindow(ctx context.Context) *windowSearch {
	if m.ask == nil || m.window.tokens > 0 {
		return nil
	}
	s := &windowSearch{ask: func() *windowQuestion { return m.askWindow(ctx) }}
	s.open = s.ask()
	return s
}

// atStart gives what the server said before the run, if it has. Where the run
// may change it, it has to be enough to be of use till then.
func (s *windowSearch) atStart(enough func(tokens int) bool) int {
	if s == nil {
		return 0
	}
	said, _ := s.take(0)
	if said.Passing && !enough(said.Tokens) {
		return 0
	}
	return said.Tokens
}

// afterAnswer gives what the server has said in the meantime, once it holds.
func (s *windowSearch) afterAnswer() int {
	if s == nil || s.done {
		return 0
	}
	if s.open == nil {
		s.open, s.late = s.ask(), true
		return 0
	}
	said, there := s.take(0)
	switch {
	case s.done:
		return said.Tokens
	case there:
		return s.afterAnswer() // which asks again
	default:
		return 0
	}
}

// atEnd gives what the server said last, for which it waits a little.
func (s *windowSearch) atEnd() int {
	if s == nil || s.done || s.open == nil {
		return 0
	}
	if said, _ := s.take(windowGrace); s.done {
		return said.Tokens
	}
	return 0
}

// take takes the answer of the open question, if it is there within a time, and
// tells by it whether there is more to find.
func (s *windowSearch) take(within time.Duration) (said openai.Window, there bool) {
	if said, there = s.open.answer(within); there {
		s.open, s.done = nil, s.late || said.Tokens > 0 && !said.Passing
	}
	return said, there
}

// Close ends what goes on.
func (s *windowSearch) Close() error {
	if s == nil || s.open == nil {
		return nil
	}
	return s.open.Close()
}
