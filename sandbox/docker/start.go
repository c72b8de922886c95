package docker

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/belljar/belljar/internal/oneline"
	"github.com/belljar/belljar/internal/supervisor"
	"github.com/belljar/belljar/sandbox"
)

var _ sandbox.Runtime = (*Engine)(nil)

// startBound is how long the start of a sandbox may take, from its place among
// those that are started on. It takes about half a second; a busy machine is
// slower.
const startBound = 2 * time.Minute

// Start makes a container from the spec and returns when a command can run in
// it. The image must be there, see EnsureImage. Nothing is left behind when it
// fails.
func (e *Engine) Start(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	leave, err := enter(ctx, e.starts.sandboxes)
	if err != nil {
		return nil, fmt.Errorf("starting a sandbox: %w", err)
	}
	defer leave()
	ctx, cancel := context.WithTimeoutCause(ctx, startBound, errors.New("it took longer than "+startBound.String()))
	defer cancel()
	box, err := e.start(ctx, spec)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
			err = fmt.Errorf("%w (%w)", cause, err)
		}
		return nil, fmt.Errorf("starting a sandbox: %w", err)
	}
	return box, nil
}

func (e *Engine) start(ctx context.Context, spec sandbox.Spec) (_ *box, err error) {
	if err := e.removeLeft(); err != nil {
		return nil, err
	}
	plan, err := e.plan(ctx, spec)
	if err != nil {
		return nil, err
	}
	created, err := plan.create(ctx)
	if err != nil {
		return nil, plan.createError(err)
	}
	lifetime, stop := context.WithCancel(context.Background())
	b := &box{
		engine: e, id: created.ID, user: plan.execUser(), env: plan.environment(), umask: spec.Owner.Umask, giving: plan.giving(),
		lifetime: lifetime, stop: stop, closing: make(chan struct{}), active: map[*run]struct{}{}, notify: spec.Notify,
		info: sandbox.Info{
			ID: created.ID, Image: plan.image, Engine: e.Description(), Runtime: plan.runtime(),
			MountPoint: sandbox.MountPoint, Helper: helperInside, Mounts: plan.spec.Mounts, Profile: plan.spec.Profile, User: plan.user(), Limits: plan.spec.Limits,
			Network: plan.spec.Network, Protected: plan.spec.Protect, Loosened: plan.loosened(),
			Capabilities: e.CapabilitiesOf(spec.Runtime),
		},
	}
	b.giver = func() (*container.Config, *container.HostConfig) { return plan.giver(b.giving) }
	// Giving files to their owner takes a second spare at once.
	b.once = spec.Once && b.giving == nil
	b.pool = newPool(b.once, func() (*spare, error) { return b.startSpare(lifetime, e.starts.enterExec, spareStart) })
	if roomForPairs(plan.spec.Limits) {
		b.pool.wakeable = b.wakeable
	}
	defer func() {
		if err != nil {
			if left := b.Close(); left != nil {
				err = fmt.Errorf("%w; %w", err, left)
			}
		}
	}()
	if plan.spec.Network == sandbox.NetworkAllow {
		if b.outlet, err = e.openOutlet(spec.Proxy); err != nil {
			return nil, err
		}
	}
	b.watchDisk(plan)
	if err := b.boot(ctx); err != nil {
		return nil, err
	}
	return b, b.ready(ctx, plan)
}

// ready opens the way out, if there is one, while the first spare starts.
func (b *box) ready(ctx context.Context, plan *plan) error {
	if b.outlet == nil {
		return b.check(ctx, plan)
	}
	opened := make(chan error, 1) // one answer, so the sender never waits
	go func() { opened <- b.outlet.start(ctx, plan, b.id, b.wayBroke) }()
	err := b.check(ctx, plan)
	if failed := <-opened; err == nil {
		err = failed // else it most likely failed for the same reason
	}
	return err
}

// boot starts the container, with the lease attached before, and the spares.
func (b *box) boot(ctx context.Context) error {
	api := b.engine.api
	conn, err := b.engine.hijack(ctx, "/containers/"+b.id+"/attach?stream=1&stdin=1&stdout=1&stderr=1", nil)
	if err != nil {
		return fmt.Errorf("attaching to the container: %w", err)
	}
	waitCtx, stopWait := context.WithCancel(b.lifetime)
	release := context.AfterFunc(ctx, stopWait)
	exit, failed := api.ContainerWait(waitCtx, b.id, container.WaitConditionNextExit)
	release()
	b.lease = holdLease(conn, newFrames(conn.Reader, shortBuffer), b.engine.leaseTimes(), exit, failed, stopWait)
	b.watchEnding(ctx)
	if err := api.ContainerStart(ctx, b.id, container.StartOptions{}); err != nil {
		return startError(err)
	}
	b.lease.begin()
	b.pool.top(0)
	return nil
}

// check waits for the first spare and asks it what the sandbox is like.
func (b *box) check(ctx context.Context, plan *plan) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stopWatching := b.watch(cancel)
	defer stopWatching()
	first, err := b.pool.take(ctx, true)
	if err != nil {
		return b.explain("preparing the container", err)
	}
	setup := b.setup(sandbox.Command{Script: ":", Stdout: mergedOutput{}, Stderr: mergedOutput{}}, b.info.MountPoint)
	reply, err := first.ask(ctx, supervisor.Request{Op: supervisor.Count, Setup: setup, Places: places()})
	if err != nil {
		first.close()
		return b.explain("asking the supervisor in the container", err)
	}
	if err := plan.checkProtected(ctx, first); err != nil {
		first.close()
		return b.explain("checking what is protected", err)
	}
	b.info.Shell = first.shell
	if b.giving != nil {
		b.giving.Since, b.giving.Top = reply.Now, reply.Ids
	}
	b.pool.put(first)
	b.pool.hint(setup)
	if err := plan.checkWorkspace(reply); err != nil {
		return err
	}
	return b.checkLimits(ctx, plan, reply.Limits)
}

// mergedOutput stands for one writer for both streams, which is how the first
// command most likely comes.
type mergedOutput struct{}

func (mergedOutput) Write(p []byte) (int, error) { return len(p), nil }

// sameKernel tells whether files have the same numbers inside as here. In a
// virtual machine and with a runtime that is a kernel of its own they have not.
func (p *plan) sameKernel() bool {
	return runtime.GOOS == "linux" && !p.engine.gvisor(p.spec.Runtime) && !strings.Contains(p.engine.info.OperatingSystem, "Docker Desktop")
}

// checkWorkspace compares what is seen at the mount point with the workspace.
// An engine in another mount name space or on another machine makes an empty
// folder, or has another one of the same name.
func (p *plan) checkWorkspace(seen supervisor.Reply) error {
	if seen.NoEntry {
		return fmt.Errorf("the workspace %s cannot be entered by user %s in the container: check who may enter the folder", p.spec.Workspace, p.user())
	}
	if !p.sameKernel() {
		return nil
	}
	want, err := inodeOf(p.spec.Workspace)
	if err != nil {
		return fmt.Errorf("looking at the workspace: %w", err)
	}
	if want != seen.Inode {
		return fmt.Errorf("the workspace %s is another folder for the engine, which seems to run elsewhere: use a folder that it can see", p.spec.Workspace)
	}
	return nil
}

// runningWait is how long Close waits for commands to be told of it before the
// container goes. A writer of a caller's that blocks holds each up for some
// seconds; nothing that holds one up may keep the container alive.
const runningWait = 10 * time.Second

// Close removes the container. See sandbox.Sandbox.
func (b *box) Close() error {
	b.closeOnce.Do(func() {
		b.mu.Lock()
		close(b.closing)
		b.mu.Unlock()
		given := b.lastGive()
		b.stop()
		waitBounded(b.running.Wait, runningWait)
		if b.lease != nil {
			b.lease.release()
		}
		b.closeErr = b.remove()
		if !given {
			b.closeErr = oneline.Join(b.closeErr, b.giveAfter())
		}
		b.pool.close()
		waitBounded(b.readers.Wait, closeWait)
	})
	return b.closeErr
}

// remove removes the container, whose lease was given up, and the way out of it.
func (b *box) remove() error {
	defer after(stuckEndWait, func() { b.wake() })()
	patience := ownEnd
	if b.lease == nil || b.giving != nil { // PID 1 would first give what was given already
		patience = 0
	}
	if b.outlet == nil {
		return b.engine.removeAfter(b.id, patience)
	}
	outlet := make(chan error, 1) // one answer, so the sender never waits
	go func() { outlet <- b.outlet.close() }()
	return oneline.Join(b.engine.removeAfter(b.id, patience), <-outlet)
}

// waitBounded waits for a function, but not for ever.
func waitBounded(wait func(), bound time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		wait()
	}()
	select {
	case <-done:
	case <-time.After(bound):
	}
}

func (e *Engine) leaseTimes() leaseTimes {
	if e.times != (leaseTimes{}) {
		return e.times
	}
	return leaseTimes{beat: leaseBeat, stall: leaseStall}
}
