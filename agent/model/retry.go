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
	// for at least, and up to a quarter of it, at most Max, longer.
	RetryAfterCap time.Duration
	// MaxWait is how long may be waited for one answer, all its waits together;
	// 0 is no such limit. It stands in for RetryAfterCap, and for Attempts as
	// far as tries are concerned that used up nothing: those of a server that
	// cannot be reached or refuses to answer. Attempts of 1 are no retry still.
	MaxWait time.Duration
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
	if w.Delay >= 2*time.Minute {
		return "trying again in " + w.Delay.Round(time.Second).String()
	}
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

// tries are those for one answer.
type tries struct {
	all, costly int
	waited      time.Duration
}

func (r *retrier) Generate(ctx context.Context, req Request, onText func(string)) (Response, error) {
	for t := (tries{}); ; {
		resp, err := r.Model.Generate(ctx, req, onText)
		if err == nil {
			r.reached.Store(true)
		}
		if err == nil || ctx.Err() != nil || !r.worthIt(err) {
			return resp, err
		}
		if err := r.policy.pause(ctx, &t, err); err != nil {
			return Response{}, err
		}
	}
}

// worthIt reports whether another try may get past the error.
func (r *retrier) worthIt(err error) bool {
	kind := KindOf(err)
	return kind.Retryable() || kind == NoHost && r.reached.Load()
}

// pause waits before another try, or says why there is none.
func (p RetryPolicy) pause(ctx context.Context, t *tries, failed error) error {
	t.add(failed)
	if err := p.over(t, failed); err != nil {
		return err
	}
	delay, least := p.delay(t.all, failed)
	if p.MaxWait > 0 {
		delay = min(delay, p.MaxWait-t.waited)
	}
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		if left <= min(least, delay) {
			return fmt.Errorf("%w: %w", ErrNoTime, failed)
		}
		if delay >= left {
			delay = least // the random part is no reason to give up
		}
	}
	if p.Notify != nil {
		if err := p.Notify(Wait{Attempt: t.all, Delay: delay, Err: failed}); err != nil {
			return err
		}
	}
	t.waited += delay
	return sleep(ctx, delay)
}

// add counts a try that failed. One whose answer had begun, or of which that is
// not known, may have cost something.
func (t *tries) add(failed error) {
	t.all++
	var e *Error
	if errors.As(failed, &e) && (e.Kind == Cut || e.Kind == Stalled || e.Usage != Usage{}) {
		t.costly++
	}
}

// over says why there is no further try, or nil.
func (p RetryPolicy) over(t *tries, failed error) error {
	counted, longest := t.all, p.RetryAfterCap
	if p.MaxWait > 0 {
		counted, longest = t.costly, p.MaxWait-t.waited
	}
	switch asked := askedFor(failed); {
	case p.Attempts == 1:
		return failed
	case counted >= p.Attempts:
		return fmt.Errorf("gave up after %d tries: %w", t.all, failed)
	case longest <= 0:
		return fmt.Errorf("gave up after %d tries and waits of %s: %w", t.all, t.waited.Round(time.Second), failed)
	case asked > longest:
		return fmt.Errorf("the server asks not to be asked again before %s, which is too long to wait for; try again then, or give --max-wait: %w",
			clock(time.Now(), asked), failed)
	default:
		return nil
	}
}

// delay is the wait after the given try: a doubling one of which up to a
// quarter is taken off at random, or what the server asked for with up to a
// quarter on top, if that is more. The least is what that would be without the
// part on top.
func (p RetryPolicy) delay(attempt int, err error) (delay, least time.Duration) {
	delay = p.Base
	for range attempt - 1 {
		if delay = 2 * delay; delay >= p.Max {
			break
		}
	}
	delay = min(delay, p.Max)
	delay -= rand.N(delay/4 + 1)
	asked := askedFor(err)
	least = max(delay, asked)
	if asked > 0 {
		delay = max(delay, asked+rand.N(min(asked/4, p.Max)+1))
	}
	return delay, least
}

// askedFor is how long the server wants to be left alone.
func askedFor(err error) time.Duration {
	var e *Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
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
