package docker

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/belljar/belljar/internal/supervisor"
)

// endProcesses ends the command's processes. A command that is alone is ended
// by its own supervisor, as long as no other one waits. Where that is stopped,
// or where the reader of the output holds its answer up, a new exec helps.
func (r *run) endProcesses() (supervisor.Reply, error) {
	request := supervisor.Request{Victims: []supervisor.Proc{r.spare.self}}
	if !r.alone || r.box.pool.guarded() {
		return r.box.endProcesses(request)
	}
	r.box.killing.Lock()
	defer r.box.killing.Unlock()
	if report, ok := r.askOwn(); ok {
		return report, nil
	}
	report, err := r.box.endInTurn(request)
	if err == nil {
		return report, nil
	}
	// Where no exec starts the command's supervisor may only be slow.
	if late, ok := r.ownReport(killWait); ok {
		return late, nil
	}
	return report, err
}

// askOwn asks the command's own supervisor and waits for a while: as long as a
// Kill may take if it is surely at it, since another killer would stop it and
// be stopped by it. The caller holds killing.
func (r *run) askOwn() (supervisor.Reply, bool) {
	// What cannot be asked has ended, and then its stream tells.
	_ = r.spare.tell(supervisor.Request{Op: supervisor.Kill})
	report, ok := r.ownReport(ackWait)
	if ok || !r.spare.alive() || r.sink.writing.Load() || !r.awake() {
		return report, ok
	}
	return r.ownReport(killWait - ackWait)
}

// awake tells whether the engine sees the command's supervisor, and not stopped
// by a signal. Podman would run a ps inside for it, and gVisor's processes are
// not the engine's.
func (r *run) awake() bool {
	engine := r.box.engine
	if engine.Podman() || engine.gvisor(r.box.info.Runtime) {
		return false
	}
	ctx, cancel := context.WithTimeout(r.box.lifetime, ackWait)
	defer cancel()
	exec, err := engine.api.ContainerExecInspect(ctx, r.spare.execID)
	if err != nil || !exec.Running {
		return false
	}
	top, err := engine.api.ContainerTop(ctx, r.box.id, []string{"-eo", "pid,stat"})
	return err == nil && runs(top.Processes, exec.Pid)
}

// runs tells whether a process is in a list of numbers and states, see ps(1),
// and not stopped.
func runs(list [][]string, pid int) bool {
	for _, row := range list {
		if len(row) == 2 && row[0] == strconv.Itoa(pid) {
			return !strings.HasPrefix(row[1], "T") && !strings.HasPrefix(row[1], "Z")
		}
	}
	return false
}

// ownReport is what the command's own supervisor says it has ended, if that
// comes within the bound and is all there was to end.
func (r *run) ownReport(bound time.Duration) (supervisor.Reply, bool) {
	select {
	case <-r.spare.done:
	case <-r.box.lifetime.Done():
		return supervisor.Reply{}, false
	case <-time.After(bound):
		return supervisor.Reply{}, false
	}
	t, ok := r.sink.trailer()
	if !ok || t.LeftCount > 0 || t.Ended && !t.Clean {
		return supervisor.Reply{}, false
	}
	report := supervisor.Reply{Killed: t.Killed, Count: t.KillCount, Clean: true, Counters: t.After}
	if !t.DirGone {
		report.Dir = t.Dir
	}
	return report, true
}
