package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/belljar/belljar/internal/supervisor"
	"github.com/belljar/belljar/sandbox"
)

// A box is one sandbox: a container, its lease and its spares.
type box struct {
	engine *Engine
	id     string // the container's
	user   string // of commands, as the engine is told
	info   sandbox.Info
	env    [][]byte // the whole environment of a command
	umask  int
	giving *supervisor.Giving // nil: files belong to the owner from the start
	giver  func() (*container.Config, *container.HostConfig)
	lease  *lease
	pool   *pool
	once   bool         // one command is expected, which need not wait for a second spare
	outlet *outlet      // nil unless the network mode is allow
	notify func(string) // Spec.Notify
	queued atomic.Int32 // starts of execs that wait for their place
	disk   *diskWatch   // nil: no limit
	ending *ending      // nil but for gVisor, which ends as a whole over a limit
	// lifetime ends with Close. What ends processes must outlive the context
	// of the command, and must not hold up Close.
	lifetime context.Context
	stop     context.CancelFunc
	readers  sync.WaitGroup // readers of execs
	running  sync.WaitGroup // Exec calls

	closing   chan struct{} // closed by the first Close
	closeOnce sync.Once
	closeErr  error

	killing sync.Mutex // held while processes are being ended

	waking sync.Mutex // held while processes are signaled from the host
	held   bool       // a holder keeps them stopped

	mu      sync.Mutex
	active  map[*run]struct{} // commands that run
	known   []supervisor.Proc // left by commands that have ended
	walk    *walk             // the next one that gives files, and has not begun
	broken  error             // set when processes could not be ended
	cleared int               // how often everything had to be ended
	note    string            // for the next command that ends
}

var (
	_ sandbox.Sandbox = (*box)(nil)
	_ sandbox.Filler  = (*box)(nil)
)

// maxKnown bounds how many left processes are remembered. Those beyond it may
// be taken along when a later command kills its own supervisor.
const maxKnown = 4096

// Info describes the sandbox as it was made.
func (b *box) Info() sandbox.Info { return b.info }

// Exec runs one command on a spare. See sandbox.Sandbox.
func (b *box) Exec(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
	if err := cmd.Check(); err != nil {
		return sandbox.Result{}, err
	}
	b.mu.Lock()
	broken := b.broken
	select {
	case <-b.closing:
		broken = fmt.Errorf("running a command: %w", sandbox.ErrClosed)
	default:
		b.running.Add(1)
		defer b.running.Done()
	}
	b.mu.Unlock()
	if broken != nil {
		return sandbox.Result{}, broken
	}
	dir := cmd.Dir
	if dir == "" {
		dir = b.info.MountPoint
	}
	if ctx.Err() != nil {
		return sandbox.Result{Status: sandbox.Canceled, Dir: dir}, nil
	}
	// Everything that waits below also ends when the sandbox is closed or lost.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stopWatching := b.watch(cancel)
	defer stopWatching()

	start := time.Now()
	run, err := b.handOverInTime(ctx, cmd, dir)
	if err != nil {
		if errors.Is(err, sandbox.ErrInvalidCommand) {
			return sandbox.Result{}, err
		}
		if result, ok := canceledBefore(ctx, dir, start); ok {
			return result, nil
		}
		return sandbox.Result{}, b.notBegun(err)
	}
	result, err := run.finish(ctx)
	b.deactivate(run)
	if err != nil {
		return sandbox.Result{}, err
	}
	result.Duration = time.Since(run.started)
	if note := b.giveFiles(); note != "" {
		result.Reason = joinReasons(result.Reason, note)
	}
	if note := b.takeNote(); note != "" {
		result.Reason = joinReasons(result.Reason, note)
	}
	return result, nil
}

// canceledBefore tells that the caller gave up before the command was started.
func canceledBefore(ctx context.Context, dir string, start time.Time) (sandbox.Result, bool) {
	if ctx.Err() == nil || isMachine(context.Cause(ctx)) {
		return sandbox.Result{}, false
	}
	return sandbox.Result{Status: sandbox.Canceled, Dir: dir, Duration: time.Since(start)}, true
}

// isMachine tells the end of the sandbox from the caller's own.
func isMachine(err error) bool {
	return errors.Is(err, sandbox.ErrLost) || errors.Is(err, sandbox.ErrClosed)
}

// watch cancels with the reason when the sandbox is closed or lost.
func (b *box) watch(cancel context.CancelCauseFunc) (stop func()) {
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-b.closing:
			cancel(sandbox.ErrClosed)
		case <-b.lease.lost:
			cancel(sandbox.ErrLost)
		case <-ended:
		}
	}()
	return func() {
		close(ended)
		<-stopped
	}
}

// setup is what a command starts from.
func (b *box) setup(cmd sandbox.Command, dir string) supervisor.Setup {
	env := b.env
	if len(cmd.Env) > 0 {
		env = append([][]byte(nil), b.env...)
		for _, kv := range cmd.Env {
			env = append(env, []byte(kv))
		}
		env = lastWins(env)
	}
	return supervisor.Setup{
		Dir: []byte(dir), Root: []byte(b.info.MountPoint), Env: env, Umask: b.umask,
		Merge: cmd.Stdout != nil && sameWriter(cmd.Stdout, cmd.Stderr), Stdin: cmd.Stdin != nil,
	}
}

func newNonce() string {
	var raw [supervisor.NonceLen / 2]byte
	_, _ = rand.Read(raw[:]) // never fails, see crypto/rand
	return hex.EncodeToString(raw[:])
}

func newKey() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails, see crypto/rand
	return key
}

// remember notes what a command left, so that it is not taken for what
// another one that killed its supervisor left.
func (b *box) remember(left []supervisor.Proc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range left {
		p.Name = "" // may be no valid text, and would not come back as it is
		b.known = append(b.known, p)
	}
	if extra := len(b.known) - maxKnown; extra > 0 {
		b.known = append([]supervisor.Proc(nil), b.known[extra:]...)
	}
}

// setNote keeps a line for the next command that ends, in the place of one that
// no command was told.
func (b *box) setNote(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.note = text
}

func (b *box) takeNote() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.note
	b.note = ""
	return taken
}

// forget drops what is known and of which nothing is there any more.
func (b *box) forget(known, there []supervisor.Proc) {
	gone := map[supervisor.Proc]bool{}
	for _, p := range known {
		gone[p] = true
	}
	for _, p := range there {
		delete(gone, p)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known = slices.DeleteFunc(b.known, func(p supervisor.Proc) bool { return gone[p] })
}

// others lists what is known to be of other commands than the victims': what
// they left, and the sessions of those that run, whose supervisors may end at
// any moment and leave something before word of it is here.
func (b *box) others(victims []supervisor.Proc) []supervisor.Proc {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := slices.Clone(b.known)
	for r := range b.active {
		if !slices.ContainsFunc(victims, func(v supervisor.Proc) bool { return v.PID == r.spare.self.PID }) {
			list = append(list, supervisor.Proc{Session: r.spare.self.PID})
		}
	}
	return list
}

func (b *box) activate(r *run) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.active[r] = struct{}{}
}

func (b *box) deactivate(r *run) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.active, r)
}

// giveUp marks the sandbox as being of no further use.
func (b *box) giveUp(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken == nil {
		b.broken = err
	}
}

// Lost returns a channel that is closed when the sandbox has died or was closed.
func (b *box) Lost() <-chan struct{} { return b.lease.lost }
