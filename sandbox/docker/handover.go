package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/belljar/belljar/internal/oneline"
	"github.com/belljar/belljar/internal/supervisor"
	"github.com/belljar/belljar/sandbox"
)

const (
	// handOverTries is how many spares are tried when each turns out to be
	// dead. A command that kills everything of its user takes all of them.
	handOverTries = 6
	// ackWait is how long a spare may take to acknowledge before it is
	// thought to be stopped by a command. It answers in under a millisecond.
	ackWait = 2 * time.Second
)

// A run is one command under way.
type run struct {
	box     *box
	cmd     sandbox.Command
	dir     string
	spare   *spare
	sink    *sink
	started time.Time
	before  supervisor.Counters
	dirLost bool
	disk    *diskTrip
	alone   bool // its own supervisor can end it
	cleared int  // the box's count when the command was started
}

// handOver gives the command to a spare, and counts it among those that run.
// One that died before it acknowledged is replaced in silence; after that the
// command may have run, and never is.
func (b *box) handOver(ctx context.Context, cmd sandbox.Command, dir string) (*run, error) {
	// A command that reads from the connection leaves no way to ask.
	alone, delay := b.once && cmd.Stdin == nil, refillDelay
	if alone {
		delay = onceDelay
	}
	for try := 1; ; try++ {
		s, err := b.takeSpare(ctx, alone)
		if err != nil {
			return nil, err
		}
		r := &run{box: b, cmd: cmd, dir: dir, spare: s, disk: b.disk.current(), alone: alone}
		// Before it may have begun, so that no other's end takes it along.
		b.activate(r)
		err = r.give(ctx)
		if err == nil {
			b.pool.top(delay)
			return r, nil
		}
		b.deactivate(r)
		again := b.mayRetry(s)
		s.close()
		r.sink.detach()
		var refused refusal
		if errors.Is(err, sandbox.ErrInvalidCommand) || errors.As(err, &refused) {
			return nil, err
		}
		// It may have begun after all, or may yet; nothing of it must stay.
		_, endErr := b.endProcesses(supervisor.Request{Victims: []supervisor.Proc{s.self}})
		if endErr != nil || !again || ctx.Err() != nil || try == handOverTries {
			return nil, oneline.Join(err, endErr)
		}
	}
}

// mayRetry tells whether a spare surely died before it took the command: its
// stream came to a proper end without an acknowledgement, and the engine says
// that a signal ended it. A cut connection proves nothing.
func (b *box) mayRetry(s *spare) bool {
	if s.alive() || !errors.Is(s.err, io.EOF) {
		return false
	}
	code, err := b.execCode(s.execID)
	return err == nil && code > 128
}

// takeSpare takes a spare, and clears the sandbox when none can be started
// because what commands left behind fills the process limit. Where an exec was
// started and came to nothing it tries once more: with commands that are root a
// "kill -1" of one of them ends what the engine is just starting.
func (b *box) takeSpare(ctx context.Context, alone bool) (*spare, error) {
	s, err := b.pool.take(ctx, alone)
	if err == nil || ctx.Err() != nil {
		return s, err
	}
	cleared, clearErr := b.clearFull()
	var died errText
	switch {
	case clearErr != nil:
		return nil, fmt.Errorf("%w; clearing the sandbox: %w", err, clearErr)
	case !cleared && !errors.As(err, &died) && !errors.Is(err, errSpareGone):
		return nil, err
	}
	return b.pool.take(ctx, alone)
}

// give sends the command and waits for the acknowledgement.
func (r *run) give(ctx context.Context) error {
	nonce, key := newNonce(), newKey()
	req := supervisor.Request{
		Op: supervisor.Run, Setup: r.box.setup(r.cmd, r.dir), Nonce: nonce, Key: key,
		ScriptLen: len(r.cmd.Script), Alone: r.alone,
	}
	for _, arg := range r.cmd.Args {
		req.Args = append(req.Args, []byte(arg))
	}
	r.sink = newSink(nonce, key, r.cmd.Stdout, r.cmd.Stderr, r.cmd.OutputLimit)
	if req.Setup.Merge {
		r.sink.merge()
	}
	r.box.mu.Lock()
	r.cleared = r.box.cleared
	r.box.mu.Unlock()
	r.started = time.Now()
	err := r.spare.send(req, []byte(r.cmd.Script), r.sink)
	if errors.Is(err, supervisor.ErrFrameSize) {
		return fmt.Errorf("%w: its arguments and environment are too long: %w", sandbox.ErrInvalidCommand, err)
	}
	if err != nil {
		// What the stream says decides whether the command was taken.
		r.spare.conn.Close()
		<-r.spare.done
	}
	reply, err := r.ack(ctx)
	if err != nil {
		return fmt.Errorf("handing over the command: %w", err)
	}
	r.before, r.dirLost = reply.Counters, reply.DirLost
	return nil
}

// ack waits for the acknowledgement, and wakes the spare when an earlier
// command has stopped it with a signal.
func (r *run) ack(ctx context.Context) (supervisor.Reply, error) {
	reply, err := r.ackWithin(ctx, ackWait)
	if errors.Is(err, errNoAck) && r.box.wake() {
		reply, err = r.ackWithin(ctx, ackWait)
	}
	if !errors.Is(err, errNoAck) {
		return reply, err
	}
	if err := r.box.thaw(ctx); err != nil {
		return reply, err
	}
	return r.ackWithin(ctx, killWait)
}

func (r *run) ackWithin(ctx context.Context, bound time.Duration) (supervisor.Reply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, bound, errNoAck)
	defer cancel()
	return r.spare.reply(ctx)
}

var errNoAck = errors.New("the supervisor in the container does not answer")

// sameWriter tells whether two writers are the same value, as os/exec does.
func sameWriter(a, b io.Writer) bool {
	if a == nil || b == nil || reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}
