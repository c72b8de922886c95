package main

import (
	"context"
	"time"

	"github.com/belljar/belljar/agent/model/openai"
)

const (
	// windowPatience is how long the model's server has to say what the model
	// takes. Nothing waits for it.
	windowPatience = 2 * time.Second
	// windowGrace is how long the end of a run waits for it: a run of one answer
	// may be over before the server, which has just answered, has said it.
	windowGrace = 250 * time.Millisecond
)

// A windowQuestion is a question to a model's server that goes on beside other
// work. Close it.
type windowQuestion struct {
	stop  context.CancelFunc
	ended chan struct{} // closed when the answer is there, or there will be none
	said  openai.Window // the zero value is nothing
}

// askWindow asks the model's server what the model takes. Where the server does
// not say it, nothing is lost but the answer.
func (m *chosenModel) askWindow(ctx context.Context) *windowQuestion {
	ctx, stop := context.WithTimeout(ctx, windowPatience)
	q := &windowQuestion{stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(q.ended)
		q.said, _ = m.ask(ctx) // a failure is no answer
	}()
	return q
}

// answer gives the answer, if it is there within a time.
func (q *windowQuestion) answer(within time.Duration) (said openai.Window, there bool) {
	select { // what is there counts, however short the time
	case <-q.ended:
		return q.said, true
	default:
	}
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case <-q.ended:
		return q.said, true
	case <-late.C:
		return openai.Window{}, false
	}
}

// Close ends the question.
func (q *windowQuestion) Close() error {
	q.stop()
	<-q.ended
	return nil
}
