package agent

import (
	"context"
	"sync"
	"time"
)

// A clock is a context that ends when a run has had its time. The time stands
// still while the clock is paused. A nil clock bounds nothing.
type clock struct {
	context.Context
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer   // ends the context; nil while paused
	end   time.Time     // when it does, while the time runs
	left  time.Duration // what is left, while paused
}

// newClock starts a clock over a context. The caller stops it.
func newClock(parent context.Context, limit time.Duration) *clock {
	c := &clock{left: limit}
	c.Context, c.cancel = context.WithCancelCause(parent)
	c.resume()
	return c
}

// Deadline is when the time is over as things stand.
func (c *clock) Deadline() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	end := c.end
	if c.timer == nil {
		end = time.Now().Add(c.left)
	}
	if outer, ok := c.Context.Deadline(); ok && outer.Before(end) {
		return outer, true
	}
	return end, true
}

// remaining is the time that is left.
func (c *clock) remaining() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer == nil {
		return c.left
	}
	return time.Until(c.end)
}

// pause stops the time.
func (c *clock) pause() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop() // one that has gone off has ended the context
		c.timer, c.left = nil, time.Until(c.end)
	}
}

// resume lets the time go on.
func (c *clock) resume() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer == nil {
		c.end = time.Now().Add(c.left)
		c.timer = time.AfterFunc(c.left, func() { c.cancel(errMaxTime) })
	}
}

// stop ends the clock.
func (c *clock) stop() {
	c.pause()
	c.cancel(nil)
}
