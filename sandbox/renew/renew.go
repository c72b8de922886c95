// Package renew keeps work going when its sandbox is lost: it starts another
// one over the same workspace and says so. What the lost one held beside the
// workspace is gone: processes, /tmp, the home folder.
package renew

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/belljar/belljar/sandbox"
)

const (
	// DefaultMax is how often a sandbox is renewed. What takes containers away
	// again and again will take the next one too.
	DefaultMax = 3
	// DefaultWait is how long a renewal may take: an engine that is restarted
	// needs some of it until it answers again.
	DefaultWait = 90 * time.Second
	// retryPause is between two attempts at a renewal.
	retryPause = time.Second
)

// Options are the settings of a Sandbox. The zero value is the default.
type Options struct {
	// Max is how often the sandbox is renewed; 0 is DefaultMax.
	Max int
	// Wait is how long one renewal may take; 0 is DefaultWait.
	Wait time.Duration
	// OnRenew is told of each renewal before the command that met the loss
	// returns. Its error is that command's. nil: nobody is told.
	OnRenew func(*sandbox.RenewedError) error
}

// A Sandbox is one that is renewed when it is lost. It is safe for concurrent
// use. Commands that the loss met end with a [sandbox.RenewedError]; they are
// never run again, since nobody knows what they did. Where no other sandbox can
// be had, or Max is reached, they end with the loss itself.
type Sandbox struct {
	runtime sandbox.Runtime
	spec    sandbox.Spec
	opts    Options
	// lifetime ends with Close, and with it a renewal under way.
	lifetime context.Context
	stop     context.CancelFunc
	// turn is taken by whoever renews or closes; its capacity is one. A mutex
	// would not let a canceled command stop waiting.
	turn chan struct{}

	closeOnce sync.Once
	closeErr  error

	mu      sync.Mutex
	current sandbox.Sandbox
	count   int   // renewals tried; names the current sandbox
	lost    error // how the current one was lost, and it is not replaced yet
}

var _ sandbox.Sandbox = (*Sandbox)(nil)

// New takes over a sandbox that the runtime started from the spec. Close closes
// it, or what has taken its place.
func New(first sandbox.Sandbox, runtime sandbox.Runtime, spec sandbox.Spec, opts Options) *Sandbox {
	if opts.Max == 0 {
		opts.Max = DefaultMax
	}
	if opts.Wait == 0 {
		opts.Wait = DefaultWait
	}
	s := &Sandbox{runtime: runtime, spec: spec, opts: opts, current: first, turn: make(chan struct{}, 1)}
	s.lifetime, s.stop = context.WithCancel(context.Background())
	return s
}

// Info describes the sandbox that stands now.
func (s *Sandbox) Info() sandbox.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current.Info()
}

// Exec runs one command. See sandbox.Sandbox.
func (s *Sandbox) Exec(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
	s.mu.Lock()
	current, count, err := s.current, s.count, s.lost
	s.mu.Unlock()
	if err == nil {
		var result sandbox.Result
		if result, err = current.Exec(ctx, cmd); !errors.Is(err, sandbox.ErrLost) {
			return result, err
		}
	}
	return sandbox.Result{}, s.renew(ctx, count, err)
}

// renew replaces the sandbox that had been renewed count times, unless another
// command has done so, and returns the error for the command.
func (s *Sandbox) renew(ctx context.Context, count int, lost error) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-s.lifetime.Done():
		return fmt.Errorf("renewing the sandbox: %w", sandbox.ErrClosed)
	case <-ctx.Done():
		return lost
	}
	s.mu.Lock()
	now, still, old := s.count, s.lost, s.current
	s.mu.Unlock()
	if now > count && still == nil {
		return &sandbox.RenewedError{Lost: lost, Count: now, Max: s.opts.Max}
	}
	if now >= s.opts.Max {
		return fmt.Errorf("%w (it was renewed %d times before)", lost, now)
	}
	s.mu.Lock()
	s.count, s.lost = now+1, lost
	s.mu.Unlock()
	// What cannot be removed now is the runtime's to remove before it starts
	// another one. Files in the workspace are nobody's later.
	var notGiven *sandbox.NotGivenError
	errors.As(old.Close(), &notGiven)
	next, err := s.start()
	if err != nil {
		if notGiven != nil {
			lost = fmt.Errorf("%w; %w", lost, notGiven)
		}
		return fmt.Errorf("%w; another one could not be started: %w", lost, err)
	}
	s.mu.Lock()
	s.current, s.lost = next, nil
	s.mu.Unlock()
	renewed := &sandbox.RenewedError{Lost: lost, Count: now + 1, Max: s.opts.Max, NotGiven: notGiven}
	if s.opts.OnRenew != nil {
		if err := s.opts.OnRenew(renewed); err != nil {
			return err
		}
	}
	return renewed
}

// start starts another sandbox, as soon as the engine can. It is not given up
// with the command that met the loss: others wait for it too.
func (s *Sandbox) start() (sandbox.Sandbox, error) {
	ctx, cancel := context.WithTimeout(s.lifetime, s.opts.Wait)
	defer cancel()
	var why error
	for {
		next, err := s.runtime.Start(ctx, s.spec)
		if err == nil {
			return next, nil
		}
		// That the time was over tells less than what went wrong before.
		if why == nil || ctx.Err() == nil {
			why = err
		}
		select {
		case <-ctx.Done():
			if s.lifetime.Err() != nil {
				why = sandbox.ErrClosed
			}
			return nil, why
		case <-time.After(retryPause):
		}
	}
}

// Close removes the sandbox that stands now. See sandbox.Sandbox.
func (s *Sandbox) Close() error {
	s.closeOnce.Do(func() {
		s.stop()
		// Whoever renews ends soon; nobody begins after this.
		s.turn <- struct{}{}
		s.closeErr = s.current.Close()
	})
	return s.closeErr
}
