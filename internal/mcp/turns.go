package mcp

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/tools"
)

const (
	// maxReads bounds the calls of one session that read beside each other.
	maxReads = 8
	// maxCalls bounds the calls of one session that run or wait, and maxHeld what
	// their arguments hold together, in bytes. More are refused: a client sends as
	// many as it likes, and none is outside of this process's memory.
	maxCalls = 64
	maxHeld  = 32 << 20
)

// newTurns makes what the calls of a session wait for. A call that only reads
// takes one part of it, any other the whole: it runs alone, on what those before
// it left. Whoever waits is served in the order of coming.
func newTurns() *semaphore.Weighted { return semaphore.NewWeighted(maxReads) }

// share is what calls of a tool take of a session's turns. Nothing is for those
// that look at or end what others do.
func (o *Options) share(def tools.Definition) int64 {
	for _, name := range o.Beside {
		if name == def.Name {
			return 0
		}
	}
	if def.Effect == tools.Read {
		return 1
	}
	return maxReads
}

// turn waits for a call's turn, and gives what ends it. The error is that nobody
// waits any more.
func (s *session) turn(ctx context.Context, share int64) (end func(), err error) {
	if share == 0 { // it would wait behind those that wait
		return func() {}, nil
	}
	if err := s.turns.Acquire(ctx, share); err != nil {
		return nil, context.Cause(ctx)
	}
	return func() { s.turns.Release(share) }, nil
}

// enter counts a call with so many bytes of arguments until leave is called. The
// error is that there are as many as may be.
func (s *session) enter(size int) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.calls >= maxCalls:
		return nil, fmt.Errorf("%d calls of this session run or wait, which is the most", s.calls)
	case s.held+size > maxHeld:
		return nil, fmt.Errorf("the calls of this session that run or wait would hold more than %s of arguments", output.Size(maxHeld))
	}
	s.calls++
	s.held += size
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls--
		s.held -= size
	}, nil
}
