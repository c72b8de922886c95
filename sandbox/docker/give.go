package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/belljar/belljar/internal/oneline"
	"github.com/belljar/belljar/internal/supervisor"
	"github.com/belljar/belljar/sandbox"
)

const (
	// giveWait is how long it is waited for files to be given to their owner
	// after a command: the supervisor's own bound and a little.
	giveWait = supervisor.GiveBound + 3*time.Second
	// lastGiveWait is the same for the end of the sandbox.
	lastGiveWait = supervisor.LastGiveBound + 5*time.Second
)

// A walk looks once at the workspace for files to give, for all commands that
// had ended before it began.
type walk struct {
	done chan struct{}
	note string // what could not be given; valid once done is closed
}

// giveFiles gives what commands that are root made in the workspace to its
// owner, and says what could not be given. Commands that end while a walk is
// under way share the next one: a walk sees every file of the workspace, and
// one after another would let many commands wait for the sum of them.
func (b *box) giveFiles() (note string) {
	b.mu.Lock()
	if b.giving == nil || b.broken != nil {
		b.mu.Unlock()
		return "" // Close does what a broken sandbox cannot
	}
	next, first := b.walk, b.walk == nil
	if first {
		next = &walk{done: make(chan struct{})}
		b.walk = next
	}
	b.mu.Unlock()
	if !first {
		<-next.done // a walk has its own bound
		return next.note
	}
	defer close(next.done)
	b.killing.Lock()
	defer b.killing.Unlock()
	b.mu.Lock()
	b.walk = nil // what a command that ends now made may be missed
	b.mu.Unlock()
	next.note = b.giveNow()
	return next.note
}

// giveNow does one walk. It is done by the spare that ends processes, not by a
// command's own supervisor: that one may be gone, and the time that it takes is
// not the command's. The caller holds killing.
func (b *box) giveNow() (note string) {
	ctx, cancel := context.WithTimeoutCause(b.lifetime, giveWait, errNoAck)
	defer cancel()
	giver := b.pool.borrowGiver()
	if giver == nil {
		fresh, err := b.startSpare(ctx, b.engine.starts.enterUrgent, giveWait)
		if err != nil {
			return notGiven(err.Error())
		}
		b.pool.lend()
		giver = fresh
	}
	defer b.pool.giveBack(giver)
	reply, err := giver.ask(ctx, supervisor.Request{Op: supervisor.Give, Giving: b.giving})
	switch {
	case err != nil:
		return notGiven(err.Error())
	case reply.Given.Late:
		return notGiven(fmt.Sprintf("the workspace has too many files to look at within %v", supervisor.GiveBound))
	case reply.Given.Refused > 0:
		return notGiven(fmt.Sprintf("%d of them could not be", reply.Given.Refused))
	case reply.Given.Kept > 0:
		return notGiven(fmt.Sprintf("%d were there before, and have a second name that may be elsewhere", reply.Given.Kept))
	default:
		return ""
	}
}

func notGiven(why string) string {
	return "not all files made in the workspace were given to its owner: " + why
}

// lastGive lets PID 1 end everything and give what was made to the owner, when
// no process is left that could change it meanwhile. It tells whether nothing
// more is to be done.
func (b *box) lastGive() bool {
	if b.giving == nil || b.lease == nil || b.giving.Since == 0 {
		return true // nothing ever ran
	}
	code, ok := b.lease.finish(lastGiveWait)
	return ok && code == 0
}

// giveAfter gives what was made to the owner from a container that does
// nothing else. It is for a sandbox that was killed, by its commands or by
// somebody else, and whose own PID 1 could not do it.
func (b *box) giveAfter() error {
	ctx, cancel := context.WithTimeout(context.Background(), lastGiveWait)
	defer cancel()
	code, err := b.engine.runGiver(ctx, b.giver)
	if err == nil && code != 0 {
		err = errors.New("some of them could not be")
	}
	if err != nil {
		return &sandbox.NotGivenError{Why: oneLine(err.Error())}
	}
	return nil
}

// giver is the container that giveAfter runs: PID 1 alone, whose owner is gone
// from the start.
func (p *plan) giver(giving *supervisor.Giving) (*container.Config, *container.HostConfig) {
	config, host := p.container()
	config.Entrypoint = supervisor.InitArgs(helperInside, int(leaseSilence.Seconds()), giving)
	config.OpenStdin, config.StdinOnce = false, false
	config.AttachStdin, config.AttachStdout, config.AttachStderr = false, false, false
	host.ReadonlyRootfs, host.NetworkMode, host.StorageOpt = true, container.NetworkMode(sandbox.NetworkNone), nil
	return config, host
}

// runGiver runs a container to its end and returns its exit code.
func (e *Engine) runGiver(ctx context.Context, made func() (*container.Config, *container.HostConfig)) (code int64, err error) {
	config, host := made()
	created, err := e.create(ctx, config, host, newName())
	if err != nil {
		return 0, fmt.Errorf("creating a container for it: %w", err)
	}
	defer func() { err = oneline.Join(err, e.remove(created.ID)) }()
	exit, failed := e.api.ContainerWait(ctx, created.ID, container.WaitConditionNextExit)
	if err := e.api.ContainerStart(ctx, created.ID, container.StartOptions{}); err != nil {
		return 0, startError(err)
	}
	select {
	case response := <-exit:
		return response.StatusCode, nil
	case err := <-failed:
		return 0, fmt.Errorf("waiting for a container: %w", err)
	}
}

// joinReasons puts two remarks of a result into one line.
func joinReasons(first, second string) string {
	if first == "" {
		return second
	}
	return first + "; " + second
}
