package agent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
)

// Spent is what a run has used up.
type Spent struct {
	// Usage counts the tokens, of answers that ended before their end as well.
	Usage model.Usage
	// Cost is in US dollars; nil is unknown, which is not nothing.
	Cost *float64
	// Requests counts what was sent to the model, those that failed included.
	Requests int
	// Waits counts the waits before another try; Waited is how long they were
	// together.
	Waits  int
	Waited time.Duration
}

// add is the sum of what two runs have used up. A sum with an unknown cost has an
// unknown cost.
func (s Spent) add(other Spent) Spent {
	sum := Spent{
		Usage: s.Usage.Add(other.Usage), Requests: s.Requests + other.Requests,
		Waits: s.Waits + other.Waits, Waited: s.Waited + other.Waited,
	}
	if s.Cost != nil && other.Cost != nil {
		sum.Cost = new(*s.Cost + *other.Cost)
	}
	return sum
}

// Total is the usage and its cost as the record has them.
func (s Spent) Total() trajectory.Usage { return usageEvent(s.Usage, s.Cost) }

// A limitError ends a run that has reached a limit in the middle of a turn.
type limitError struct{ Stop }

// Error says what there is no more of.
func (e limitError) Error() string {
	switch e.Stop {
	case StopMaxTokens:
		return "no more tokens may be used"
	case StopMaxCost:
		return "no more money may be spent"
	default:
		return "no more requests may be sent"
	}
}

// overLimit says which limit has been reached. It is asked before each turn,
// so the calls of the last turn are run. The time has a context of its own.
func (r *run) overLimit() Stop {
	if r.turns >= r.opts.MaxTurns {
		return StopMaxTurns
	}
	return r.overSpent()
}

// overSpent says which limit forbids another request. It is asked before each
// one: that of a turn, and those that follow one that failed.
func (r *run) overSpent() Stop {
	switch {
	case r.opts.MaxTokens > 0 && r.spent.Usage.Input+r.spent.Usage.Output >= r.opts.MaxTokens:
		return StopMaxTokens
	case r.overCost():
		return StopMaxCost
	case r.opts.MaxRequests > 0 && r.spent.Requests >= r.opts.MaxRequests:
		return StopMaxRequests
	default:
		return ""
	}
}

// overCost reports whether the limit on the cost has been reached.
func (r *run) overCost() bool {
	return r.opts.MaxCost > 0 && r.spent.Cost != nil && *r.spent.Cost >= r.opts.MaxCost
}

// A counted model is that of a run, with each request counted, those that it
// sends again by itself included. Whether the first may be sent is asked before.
type counted struct{ r *run }

// Name implements model.Model.
func (c *counted) Name() string { return c.r.opts.Model.Name() }

// Generate implements model.Model.
func (c *counted) Generate(ctx context.Context, req model.Request, onText func(string)) (model.Response, error) {
	c.r.endWait()
	c.r.spent.Requests++
	req.Resend = c.r.resend
	resp, err := c.r.opts.Model.Generate(ctx, req, onText)
	if recordErr := c.r.spendFailed(err); recordErr != nil {
		return model.Response{}, recordErr
	}
	return resp, err
}

// resend counts a request that failed and is sent again at once, and records
// what is written otherwise.
func (r *run) resend(again model.Resend) error {
	if err := r.spendFailed(again.Err); err != nil {
		return err
	}
	if stop := r.overSpent(); stop != "" {
		return r.giveUp(stop, again.Err)
	}
	r.spent.Requests++
	return r.record(trajectory.Notice{Kind: trajectory.NoticeAdapted, Text: cleanText(again.String())})
}

// giveUp records why a request failed that a limit forbids to send again.
func (r *run) giveUp(stop Stop, failed error) error {
	limit := limitError{stop}
	text := fmt.Sprintf("%s; %v", cleanText(failed.Error()), limit)
	if err := r.record(trajectory.Notice{Kind: trajectory.NoticeRetry, Text: text}); err != nil {
		return err
	}
	return limit
}

// retryPolicy is that of the options, with each wait put on record.
func (r *run) retryPolicy() model.RetryPolicy {
	policy := r.opts.Retry
	told := policy.Notify
	policy.Notify = func(w model.Wait) error {
		if err := r.wait(w); err != nil || told == nil {
			return err
		}
		return told(w)
	}
	return policy
}

// wait records that the model's server is waited for. A reason that has been
// told is not told again. For what may not be sent any more nothing is waited.
func (r *run) wait(w model.Wait) error {
	if stop := r.overSpent(); stop != "" {
		return r.giveUp(stop, w.Err)
	}
	text, reason := cleanText(w.String()), w.Err.Error()
	if w.Attempt > 1 && reason == r.failing {
		text = "still failing the same way; " + w.Next()
	}
	r.failing = reason
	if err := r.record(trajectory.Notice{Kind: trajectory.NoticeRetry, Text: text}); err != nil {
		return err
	}
	r.spent.Waits++
	r.waiting = time.Now()
	return nil
}

// endWait counts the time of a wait that is over.
func (r *run) endWait() {
	if !r.waiting.IsZero() {
		r.spent.Waited += time.Since(r.waiting)
		r.waiting = time.Time{}
	}
}

// spend counts what an answer used up and puts it on record.
func (r *run) spend(u model.Usage) error {
	r.spent.Usage = r.spent.Usage.Add(u)
	event := usageEvent(u, nil)
	if r.opts.Price != nil {
		cost := r.opts.Price.Cost(u)
		*r.spent.Cost += cost
		event = usageEvent(u, &cost)
	}
	return r.record(event)
}

// sum adds to the end of a run what it has used up.
func (r *run) sum(end trajectory.End) trajectory.End {
	total := r.spent.Total()
	end.Requests, end.Waits, end.WaitedMS = r.spent.Requests, r.spent.Waits, r.spent.Waited.Milliseconds()
	end.Usage = &total
	return end
}

// spendFailed counts what an answer used up that ended before its end.
func (r *run) spendFailed(err error) error {
	var e *model.Error
	if !errors.As(err, &e) || e.Usage == (model.Usage{}) {
		return nil
	}
	return r.spend(e.Usage)
}

// usageEvent is a usage as the record has it.
func usageEvent(u model.Usage, cost *float64) trajectory.Usage {
	event := trajectory.Usage{
		Input: u.Input, Output: u.Output, Cached: u.Cached, Reasoning: u.Reasoning, Estimated: u.Estimated,
	}
	if cost != nil {
		// Digits below a millionth of a cent are the noise of sums.
		event.CostUSD = new(math.Round(*cost*1e8) / 1e8)
	}
	return event
}
