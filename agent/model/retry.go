package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"
)

// A RetryPolicy says how often and how patiently a request is tried again. The
// zero value of a field is its default.
type RetryPolicy struct {
	// Attempts is the number of tries in all; the default is 8. 1 is no retry.
	Attempts int
	// Base is the wait before the second try; each further one doubles it, up
	// to Max. A part of each wait is random, so that many runs that failed
	// together do not come back together. The defaults are 1 s and 30 s.
	Base, Max time.Duration
	// RetryAfterCap is the longest wait a server may ask for; the default is
	// 2 minutes. A longer one ends the tries at once. A shorter one is waited
	// for at least.
	RetryAfterCap time.Duration
	// Notify is told before each wait; nil is not. An error from it ends the
	// tries and is returned.
	Notify func(Wait) error
}

// A Wait is a pause before another try.
type Wait struct {
	// Attempt is the number of the try that failed, from 1.
	Attempt int
	Delay   time.Duration
	// Err is why it failed.
	Err error
}

// String says in one line why and how long there is a wait.
func (w Wait) String() string { return fmt.Sprintf("%v; %s", w.Err, w.Next()) }

// Next says when the next try is.
func (w Wait) Next() string {
	seconds := strconv.FormatFloat(w.Delay.Round(100*time.Millisecond).Seconds(), 'f', -1, 64)
	return "trying again in " + seconds + " s"
}

// WithRetry returns a Model that tries a request again when it failed for a
// reason that may pass. Text of a failed try that onText was given is given
// again by the next one; Notify is called in between. A wait counts towards
// the context's deadline: one that would go past it is not begun, and the error
// wraps ErrNoTime.
func WithRetry(m Model, policy RetryPolicy) Model {
	policy.Attempts = cmp.Or(policy.Attempts, 8)
	policy.Base = cmp.Or(policy.Base, time.Second)
	policy.Max = cmp.Or(policy.Max, 30*time.Second)
	policy.RetryAfterCap = cmp.Or(policy.RetryAfterCap, 2*time.Minute)
	return &retrier{Model: m, policy: policy}
}

type retrier struct {
	Model
	policy  RetryPolicy
	reached atomic.Bool // the server has answered before
}

func (r *retrier) Generate(ctx context.Context, req Request, onText func(string)) (Response, error) {
	for attempt := 1; ; attempt++ {
		resp, err := r.Model.Generate(ctx, req, onText)
		if err == nil {
			r.reached.Store(true)
		}
		if err == nil || ctx.Err() != nil || !r.worthIt(err) {
			return resp, err
		}
		if attempt >= r.policy.Attempts {
			if attempt == 1 {
				return Response{}, err
			}
			return Response{}, fmt.Errorf("gave up after %d tries: %w", attempt, err)
		}
		delay := r.policy.delay(attempt, err)
		if delay > r.policy.RetryAfterCap {
			return Response{}, fmt.Errorf("the server asks not to be asked again before %s, which is too long to wait for; try again then: %w",
				clock(time.Now(), delay), err)
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= delay {
			return Response{}, fmt.Errorf("%w: %w", ErrNoTime, err)
		}
		if r.policy.Notify != nil {
			if err := r.policy.Notify(Wait{Attempt: attempt, Delay: delay, Err: err}); err != nil {
				return Response{}, err
			}
		}
		if err := sleep(ctx, delay); err != nil {
			return Response{}, err
		}
	}
}

// worthIt reports whether another try may get past the error.
func (r *retrier) worthIt(err error) bool {
	kind := KindOf(err)
	return kind.Retryable() || kind == NoHost && r.reached.Load()
}

// delay is the wait after the given try: a doubling one of which up to a
// quarter is taken off at random, or what the server asked for, if that is
// more.
func (p RetryPolicy) delay(attempt int, err error) time.Duration {
	delay := p.Base
	for range attempt - 1 {
		if delay = 2 * delay; delay >= p.Max {
			break
		}
	}
	delay = min(delay, p.Max)
	delay -= rand.N(delay/4 + 1)
	var e *Error
	if errors.As(err, &e) {
		delay = max(delay, e.RetryAfter)
	}
	return delay
}

// clock tells when a delay is over, with the day where it is another one.
func clock(now time.Time, delay time.Duration) string {
	form := "15:04:05"
	if end := now.Add(delay); end.YearDay() != now.YearDay() || end.Year() != now.Year() {
		form = "2006-01-02 15:04"
	}
	return now.Add(delay).Format(form)
}

// sleep waits for d, or returns why the context ended first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting to try again: %w", context.Cause(ctx))
	}
}
