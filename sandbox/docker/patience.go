package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// A patience bounds how long it may take until a supervisor has a command: the
// command's own timeout, but neither less nor more than these. The zero value
// is the usual one.
type patience struct{ least, most time.Duration }

// usualPatience waits for an engine under many starts, which was seen to take
// half a minute for one exec, and never for as long as several of them may take
// one after another.
func usualPatience() patience { return patience{least: 30 * time.Second, most: 2 * time.Minute} }

// of is the bound for a command with a timeout, 0 for none.
func (p patience) of(timeout time.Duration) time.Duration {
	if p == (patience{}) {
		p = usualPatience()
	}
	if timeout == 0 {
		return p.most
	}
	return min(max(timeout, p.least), p.most)
}

// patienceStep is how often it is looked whether the time runs.
const patienceStep = 250 * time.Millisecond

// errNoTaker says that no supervisor took a command in time.
var errNoTaker = errors.New("no supervisor in the container took the command in time")

// noTaker is the fault of a sandbox in which no command begins.
const noTaker = "it is in a state in which no command can be started"

// handOverInTime is handOver with a bound that holds whatever state the sandbox
// is in: when it has passed the container is ended, which ends all that is waited
// for, so that the sandbox counts as lost. The wait for a place among all that
// is being started is in no bound, since it says nothing of this sandbox.
func (b *box) handOverInTime(ctx context.Context, cmd sandbox.Command, dir string) (*run, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		if b.runsOut(stop, b.engine.patience.of(cmd.Timeout)) {
			cancel(errNoTaker)
			b.endContainer(errNoTaker, noTaker)
		}
	}()
	run, err := b.handOver(ctx, cmd, dir)
	close(stop)
	<-stopped
	return run, err
}

// runsOut waits until a bound has passed, and tells whether it has before stop
// was closed. It adds up steps, so that a machine which slept gives what is left.
func (b *box) runsOut(stop <-chan struct{}, bound time.Duration) bool {
	tick := time.NewTicker(patienceStep)
	defer tick.Stop()
	for waited := time.Duration(0); waited < bound; {
		select {
		case <-stop:
			return false
		case <-tick.C:
			if b.queued.Load() == 0 {
				waited += patienceStep
			}
		}
	}
	return true
}

// notBegun is the error for a command that no supervisor has taken. A sandbox in
// which supervisors do not start or do not answer is ended and counts as lost;
// while other commands run it may be they that are in the way.
func (b *box) notBegun(err error) error {
	b.mu.Lock()
	broken, busy := b.broken, len(b.active) > 0
	b.mu.Unlock()
	if broken == nil && !busy && unusable(err) && b.endContainer(err, noTaker) {
		b.mu.Lock()
		broken = b.broken
		b.mu.Unlock()
	}
	if errors.Is(broken, sandbox.ErrLost) {
		return fmt.Errorf("%w (%w)", broken, err)
	}
	return b.explain("starting a command", err)
}

// unusable tells whether an error is that of supervisors which end or hang.
func unusable(err error) bool {
	var said errText
	for _, one := range []error{errSpareGone, errNoAck, errSlowExec} {
		if errors.Is(err, one) {
			return true
		}
	}
	return errors.As(err, &said)
}
