package docker

import (
	"context"
	"sync"
	"time"
)

// Starts bound how much is being started at once. Engines that share one, see
// Options.Starts, are bounded together. It is safe for concurrent use.
//
// An engine works through starts at its own pace anyway: 32 execs at once were
// seen to take over two seconds each on 2 processors and 28 s on a current
// engine with an old containerd, and engines of the 24 line and later to stall
// for seconds once more than 16 to 20 start together. All places together are 14.
type Starts struct {
	// Each holds a place for what is being started. Waiting for one is in no
	// time bound but the caller's and urgentWait: it says nothing of the engine.
	sandboxes chan struct{} // whole sandboxes, with the first two execs of each
	execs     chan struct{} // spares for commands
	// urgent are execs that end processes. They go past those that wait for
	// execs: a command that is over its time must not wait for other sandboxes.
	urgent chan struct{}
}

// The places of each kind.
const (
	maxSandboxStarts = 4
	maxExecStarts    = 4
	maxUrgentStarts  = 6
)

// placeBound is how long the start of an exec keeps its place. Commands that
// stop every new process of their user would hold up other sandboxes else.
const placeBound = 10 * time.Second

// urgentWait is how long an exec that is to end processes waits for its place.
// An engine under too many starts is slow; a command that nobody ends is worse.
const urgentWait = 5 * time.Second

// NewStarts returns Starts for all engines of a process.
func NewStarts() *Starts {
	return &Starts{
		sandboxes: make(chan struct{}, maxSandboxStarts),
		execs:     make(chan struct{}, maxExecStarts),
		urgent:    make(chan struct{}, maxUrgentStarts),
	}
}

// enter waits for a place, in the order of coming. The caller calls leave when
// what it starts is started, or will not be; more than once does no harm.
func enter(ctx context.Context, places chan struct{}) (leave func(), err error) {
	select {
	case places <- struct{}{}:
		return sync.OnceFunc(func() { <-places }), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// enterExec is enter for a spare that is to run a command.
func (s *Starts) enterExec(ctx context.Context) (leave func(), err error) {
	return enter(ctx, s.execs)
}

// enterUrgent is enter for an exec that is to end processes. After urgentWait
// it goes on without a place.
func (s *Starts) enterUrgent(ctx context.Context) (leave func(), err error) {
	short, cancel := context.WithTimeout(ctx, urgentWait)
	defer cancel()
	leave, err = enter(short, s.urgent)
	if err != nil && ctx.Err() == nil {
		return func() {}, nil
	}
	return leave, err
}
