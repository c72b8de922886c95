package docker

import (
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
	if report, ok := r.askOwn(); ok {
		return report, nil
	}
	report, err := r.box.endProcesses(request)
	if err == nil {
		return report, nil
	}
	// Where no exec starts the command's supervisor may only be slow.
	if late, ok := r.ownReport(killWait); ok {
		return late, nil
	}
	return report, err
}

// askOwn asks the command's own supervisor and waits for a while.
func (r *run) askOwn() (supervisor.Reply, bool) {
	r.box.killing.Lock()
	defer r.box.killing.Unlock()
	// What cannot be asked has ended, and then its stream tells.
	_ = r.spare.tell(supervisor.Request{Op: supervisor.Kill})
	return r.ownReport(ackWait)
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
