package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/docker/docker/client"

	"github.com/belljar/belljar/internal/supervisor"
	"github.com/belljar/belljar/sandbox"
)

const (
	// killWait is how long the killing spare may take to answer: its own
	// bound inside and a little.
	killWait = 17 * time.Second
	// lostWait is how long the end of a container may need to show; 0.06 s was
	// seen on an idle machine.
	lostWait = time.Second
	// freshWait is how long a new exec that is to end processes may take to
	// start. What stops or kills every process of its user stops it too.
	freshWait = 8 * time.Second
	// execCodeWait bounds the wait for the engine's word on an exec. An exec
	// whose pipes were held open was seen to be reported after two seconds.
	execCodeWait = 10 * time.Second
)

// endProcesses ends the processes that a request names. It has its own time
// bound: it must work when the caller's context is done.
func (b *box) endProcesses(req supervisor.Request) (supervisor.Reply, error) {
	// Two killers that stop everything at once would stop each other.
	b.killing.Lock()
	defer b.killing.Unlock()
	return b.endInTurn(req)
}

// endInTurn is endProcesses for a caller that holds killing.
func (b *box) endInTurn(req supervisor.Request) (supervisor.Reply, error) {
	req.Op = supervisor.Kill
	// Only now: commands may have begun, or have left something, meanwhile.
	req.Known = append(req.Known, b.others(req.Victims)...)
	holder := &holder{box: b, victims: req.Victims}
	defer holder.release()
	killer := b.pool.borrowKiller()
	if killer != nil {
		report, err := b.askKiller(killer, req)
		if errors.Is(err, errNoAck) && holder.hold() {
			req.Thaw = true
			report, err = b.askKiller(killer, req)
		}
		if !errors.Is(err, errNoAck) {
			b.pool.giveBack(killer)
			if err == nil || errors.Is(err, errNotClean) {
				return report, err
			}
			killer = nil // it was killed
		}
	}
	// No spare, or one that is stopped: a new exec can wake the others.
	fresh, err := b.startKiller(holder)
	if err != nil {
		if killer == nil {
			return supervisor.Reply{}, err
		}
		// Where no exec starts, the one that does not answer may only be slow.
		defer b.pool.giveBack(killer)
		patient, cancelPatient := context.WithTimeoutCause(b.lifetime, killWait, errNoAck)
		defer cancelPatient()
		if _, late := killer.reply(patient); late != nil {
			return supervisor.Reply{}, err
		}
		return b.askKiller(killer, req)
	}
	if killer != nil {
		killer.close()
		b.pool.giveBack(killer)
	}
	req.Thaw = true
	report, err := b.askKiller(fresh, req)
	b.pool.keep(fresh)
	return report, err
}

// startKiller starts an exec that is to end processes.
func (b *box) startKiller(h *holder) (*spare, error) {
	defer after(stuckKillWait, func() { h.hold() })()
	return b.startSpare(b.lifetime, b.engine.starts.enterUrgent, freshWait)
}

func (b *box) askKiller(killer *spare, req supervisor.Request) (supervisor.Reply, error) {
	if _, err := b.count(killer); err != nil {
		return supervisor.Reply{}, err
	}
	ctx, cancel := context.WithTimeoutCause(b.lifetime, killWait, errNoAck)
	defer cancel()
	report, err := killer.ask(ctx, req)
	if err != nil {
		return report, err
	}
	if !req.All {
		b.forget(req.Known, report.KnownLeft)
	}
	if !report.Clean {
		err := fmt.Errorf("%w: the sandbox cannot be trusted any more and must be closed", errNotClean)
		b.giveUp(err)
		return report, err
	}
	return report, nil
}

// endContainer ends the whole sandbox for what fault says, such as that its
// processes cannot be ended one by one, and tells whether they are gone for
// sure. Nothing runs in it after.
func (b *box) endContainer(why error, fault string) bool {
	if errors.Is(why, sandbox.ErrClosed) || b.lifetime.Err() != nil {
		return false
	}
	// A container that somebody else ended is lost, and no word of this one's.
	// The lease is the quickest to tell.
	select {
	case <-b.lease.lost:
		return false
	case <-time.After(lostWait):
	}
	ctx, cancel := context.WithTimeout(b.lifetime, killWait)
	defer cancel()
	if err := b.engine.api.ContainerKill(ctx, b.id, "KILL"); err != nil {
		return false // it was gone before, or the engine is: explain says which
	}
	b.giveUp(fmt.Errorf("running a command: %w: %s, so the container was ended (a new one is needed)", sandbox.ErrLost, fault))
	select {
	case <-b.lease.lost:
		return true
	case <-ctx.Done():
		return false
	}
}

// leftAlive is the fault of a sandbox in which something could not be ended.
const leftAlive = "an earlier command's processes could not be ended"

// count reads the counters, which also tells whether a spare is awake.
func (b *box) count(s *spare) (supervisor.Counters, error) {
	ctx, cancel := context.WithTimeoutCause(b.lifetime, ackWait, errNoAck)
	defer cancel()
	reply, err := s.ask(ctx, supervisor.Request{Op: supervisor.Count})
	return reply.Counters, err
}

// clearFull clears the sandbox if its process limit is full, and tells whether
// it was. Who else ends processes or gives files has borrowed the killer.
func (b *box) clearFull() (bool, error) {
	b.killing.Lock()
	defer b.killing.Unlock()
	if !b.full() {
		return false, nil
	}
	return true, b.clear()
}

// full tells whether the process limit leaves no room for an exec. The caller
// holds killing.
func (b *box) full() bool {
	killer := b.pool.borrowKiller()
	if killer == nil {
		return false
	}
	counters, err := b.count(killer)
	b.pool.giveBack(killer)
	return err == nil && counters.Full()
}

// thaw wakes everything that a command has stopped, supervisors included.
func (b *box) thaw(ctx context.Context) error {
	fresh, err := b.startSpare(ctx, b.engine.starts.enterUrgent, spareStart)
	if err != nil {
		return err
	}
	defer fresh.close()
	ctx, cancel := context.WithTimeoutCause(ctx, killWait, errNoAck)
	defer cancel()
	_, err = fresh.ask(ctx, supervisor.Request{Op: supervisor.Kill, Thaw: true})
	return err
}

// clear ends everything but the spares: the last way out when the process
// limit is so full that no exec starts. The caller holds killing.
func (b *box) clear() error {
	killer := b.pool.borrowKiller()
	if killer == nil {
		err := errors.New("no process can be started in the container, and none waits that could end others")
		b.giveUp(err)
		return err
	}
	b.mu.Lock()
	b.cleared++
	b.mu.Unlock()
	_, err := b.askKiller(killer, supervisor.Request{Op: supervisor.Kill, All: true, Known: b.pool.pids()})
	b.pool.giveBack(killer)
	return err
}

// execCode asks the engine how an exec ended.
func (b *box) execCode(id string) (int, error) {
	ctx, cancel := context.WithTimeout(b.lifetime, execCodeWait)
	defer cancel()
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		exec, err := b.engine.api.ContainerExecInspect(ctx, id)
		switch {
		case err != nil:
			return 0, fmt.Errorf("asking how a command ended: %w", err)
		// Podman forgets the process of an exec that has ended.
		case !exec.Running && (exec.Pid != 0 || b.engine.Podman()):
			return exec.ExitCode, nil
		case !exec.Running:
			return 0, errors.New("the engine says that the command was never started")
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return 0, errors.New("the engine still says that the command runs, although its output has ended")
		}
	}
}

// explain turns a failure into the error that a user reads: what was being
// done, and what became of the container.
func (b *box) explain(doing string, err error) error {
	select {
	case <-b.closing:
		return fmt.Errorf("%s: %w", doing, sandbox.ErrClosed)
	default:
	}
	what := ""
	if dialFailed(err) {
		what = b.unreachable()
	} else {
		if noExec(err) {
			// The container's end may come to light a little later.
			select {
			case <-b.lease.lost:
			case <-time.After(endWait):
			}
		}
		what = b.diagnose()
	}
	switch {
	case what != "":
	case errors.Is(err, sandbox.ErrLost):
		what = b.lease.reason()
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
	lost := fmt.Errorf("%s: %w: %s", doing, sandbox.ErrLost, what)
	b.giveUp(lost)
	return lost
}

// endWait is how long the end of a container that takes no more execs may need
// to be seen from here.
const endWait = 3 * time.Second

// noExec tells that the engine takes no more execs for the container.
func noExec(err error) bool {
	text := err.Error()
	return strings.Contains(text, "stopped state") || strings.Contains(text, "is not running")
}

func (b *box) unreachable() string {
	return fmt.Sprintf("the engine at %s does not answer any more (start it again, then run again)", b.engine.endpoint.Host)
}

// ended is the reason of a sandbox whose container is gone.
func ended(how string) string {
	if how != "" {
		how += "; "
	}
	return "the container was removed or has ended (" + how + "a new one is needed)"
}

// diagnose asks the engine about the container; empty means that it runs.
func (b *box) diagnose() string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	// The container's end and the word of it are a little apart.
	for wait := 20 * time.Millisecond; ; wait *= 2 {
		state, err := b.engine.api.ContainerInspect(ctx, b.id)
		switch {
		case client.IsErrConnectionFailed(err) || ctx.Err() != nil:
			return b.unreachable()
		case err != nil && isNotFound(err):
			return ended(b.lease.exitText())
		case err != nil:
			return "" // a slow or failing engine is no lost container
		case !state.State.Running || state.State.Dead:
			// The engine's word for out of memory says that some process was
			// killed for it at some time, so it only explains a SIGKILL.
			how := b.lease.exitText()
			if how == "" {
				how = fmt.Sprintf("exit code %d", state.State.ExitCode)
			}
			if state.State.OOMKilled && state.State.ExitCode == 128+int(syscall.SIGKILL) {
				how += ", out of memory"
			}
			return ended(how)
		}
		select {
		case <-b.lease.lost:
			if wait > time.Second {
				return ""
			}
		default:
			if wait > 100*time.Millisecond {
				return ""
			}
		}
		time.Sleep(wait)
	}
}
