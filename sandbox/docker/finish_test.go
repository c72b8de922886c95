package docker

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestAwaitOther waits for stderr's trailer after stdout's, as long as there is
// reason to.
func TestAwaitOther(t *testing.T) {
	blocked := func(r *run) { r.sink.writing.Store(true) }
	trickle := func(r *run) {
		for range 2 * halfLooks {
			time.Sleep(halfWait - time.Second)
			r.sink.pieces.Add(1)
		}
	}
	for _, test := range []struct {
		name    string
		state   func(*run)
		end     func(r *run, cancel func()) // after 25 s
		want    time.Duration
		expired bool
	}{
		{name: "silence", want: halfWait},
		{name: "the trailer comes", state: blocked, end: func(r *run, _ func()) { close(r.spare.done) }, want: 25 * time.Second},
		{name: "a writer that blocks, and cancel", state: blocked, end: func(_ *run, cancel func()) { cancel() }, want: 25 * time.Second},
		{name: "a writer that blocks, and the output limit", state: blocked, end: func(r *run, _ func()) { close(r.sink.over) }, want: 25 * time.Second},
		{name: "a writer that fails", state: blocked, end: func(r *run, _ func()) { close(r.sink.failed) }, want: 25 * time.Second},
		{name: "a writer that blocks, and the disk limit", state: blocked, end: func(r *run, _ func()) { close(r.disk.done) }, want: 25 * time.Second},
		{name: "a writer that blocks, and the time limit", state: blocked, want: 5 * time.Minute, expired: true},
		{name: "pieces all the time", state: trickle, want: halfLooks * halfWait},
		{name: "pieces all the time, and cancel", state: trickle, end: func(_ *run, cancel func()) { cancel() }, want: 25 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r := &run{spare: &spare{done: make(chan struct{})}, sink: newSink(testNonce, testKey, nil, nil, 0), disk: &diskTrip{done: make(chan struct{})}}
				var states sync.WaitGroup
				defer states.Wait()
				if test.state != nil {
					states.Go(func() { test.state(r) })
				}
				if test.end != nil {
					time.AfterFunc(25*time.Second, func() { test.end(r, cancel) })
				}
				began := time.Now()
				expired := r.awaitOther(ctx, time.After(5*time.Minute))
				if took := time.Since(began); took != test.want || expired != test.expired {
					t.Errorf("waited %v, expired %v, want %v and %v", took, expired, test.want, test.expired)
				}
			})
		})
	}
}
