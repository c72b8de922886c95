package main

import (
	"context"
	"time"
)

// windowPatience is how long the model's server has to say what the model takes.
// At the start it is counted from that of the sandbox, which takes about a
// second, so hardly anything is left to wait for.
const windowPatience = 2 * time.Second

// A windowQuestion is a question to a model's server that goes on beside other
// work. A nil one is none.
type windowQuestion struct {
	stop   context.CancelFunc
	ended  chan struct{} // closed when the answer is there, or there will be none
	tokens int           // 0 is unknown
}

// askWindow asks the model's server what the model takes, unless that is known.
// Where the server does not say it, nothing is lost but the answer.
func (m *chosenModel) askWindow(ctx context.Context) *windowQuestion {
	if m.ask == nil || m.window.tokens > 0 {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, windowPatience)
	q := &windowQuestion{stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(q.ended)
		q.tokens, _ = m.ask(ctx)
	}()
	return q
}

// answer waits for the answer.
func (q *windowQuestion) answer() int {
	if q == nil {
		return 0
	}
	<-q.ended
	return q.tokens
}

// isAnswered tells whether answer does not wait.
func (q *windowQuestion) isAnswered() bool {
	select {
	case <-q.ended:
		return true
	default:
		return false
	}
}

// Close ends the question.
func (q *windowQuestion) Close() error {
	if q != nil {
		q.stop()
		<-q.ended
	}
	return nil
}
