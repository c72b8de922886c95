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

// Total is the usage and its cost as the record has them.
func (s Spent) Total() trajectory.Usage { return usageEvent(s.Usage, s.Cost) }

// errMaxRequests ends a run that may send no more requests.
var errMaxRequests = errors.New("the limit on requests was reached")

// overLimit says which limit has been reached. It is asked before each turn,
// so the calls of the last turn are run. The time has a context of its own, and
// requests are counted where they are sent.
func (r *run) overLimit() Stop {
	switch {
	case r.turns >= r.opts.MaxTurns:
		return StopMaxTurns
	case r.opts.MaxTokens > 0 && r.spent.Usage.Input+r.spent.Usage.Output >= r.opts.MaxTokens:
		return StopMaxTokens
	case r.overCost():
		return StopMaxCost
	default:
		return ""
	}
}

// overCost reports whether the limit on the cost has been reached.
func (r *run) overCost() bool {
	return r.opts.MaxCost > 0 && r.spent.Cost != nil && *r.spent.Cost >= r.opts.MaxCost
}

// A counted model is that of a run, with each request counted.
type counted struct{ r *run }

// Name implements model.Model.
func (c *counted) Name() string { return c.r.opts.Model.Name() }

// Generate implements model.Model.
func (c *counted) Generate(ctx context.Context, req model.Request, onText func(string)) (model.Response, error) {
	c.r.endWait()
	if c.r.overRequests() {
		return model.Response{}, errMaxRequests
	}
	c.r.spent.Requests++
	resp, err := c.r.opts.Model.Generate(ctx, req, onText)
	var e *model.Error
	if errors.As(err, &e) && e.Usage != (model.Usage{}) {
		if recordErr := c.r.spend(e.Usage); recordErr != nil {
			return model.Response{}, recordErr
		}
	}
	return resp, err
}

// overRequests reports whether no more requests may be sent.
func (r *run) overRequests() bool {
	return r.opts.MaxRequests > 0 && r.spent.Requests >= r.opts.MaxRequests
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
	text, reason := cleanText(w.String()), w.Err.Error()
	switch {
	case r.overRequests():
		text = fmt.Sprintf("%s; no more requests may be sent", cleanText(reason))
	case w.Attempt > 1 && reason == r.failing:
		text = "still failing the same way; " + w.Next()
	}
	r.failing = reason
	if err := r.record(trajectory.Notice{Kind: trajectory.NoticeRetry, Text: text}); err != nil {
		return err
	}
	if r.overRequests() {
		return errMaxRequests
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
