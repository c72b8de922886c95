package docker

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// stuckWait is how long the start of an exec takes before it is thought to be
// stopped. Engines on busy machines were seen to take half of it.
const stuckWait = 4 * time.Second

// psColumns ask the engine for the processes of a container: their numbers on
// its machine and their states, see ps(1).
func psColumns() []string { return []string{"-eo", "pid,stat"} }

// wake continues, from the host, what a command has stopped with signals, and
// tells whether there was something. An exec that is stopped while it is being
// started keeps the engine from starting any other, so that nothing within the
// container can. It needs an engine on this machine and the right to signal the
// container's processes, which root has and the owner too.
func (b *box) wake() bool {
	if !strings.HasPrefix(b.engine.endpoint.Host, "unix:") || !b.processesSeen() {
		return false
	}
	ctx, cancel := context.WithTimeout(b.lifetime, ackWait)
	defer cancel()
	top, err := b.engine.api.ContainerTop(ctx, b.id, psColumns())
	if err != nil {
		return false
	}
	woken := false
	for _, pid := range stopped(top.Processes) {
		woken = resume(pid, b.id) || woken
	}
	return woken
}

// processesSeen tells whether the engine tells the states of the container's
// processes. Podman would run a ps inside for it, and gVisor's are not the
// engine's.
func (b *box) processesSeen() bool {
	return !b.engine.Podman() && !b.engine.gvisor(b.info.Runtime)
}

// wakeIfStuck wakes the container's processes if that is not called off in
// time.
func (b *box) wakeIfStuck() (callOff func()) {
	b.readers.Add(1)
	timer := time.AfterFunc(stuckWait, func() {
		defer b.readers.Done()
		b.wake()
	})
	return func() {
		if timer.Stop() {
			b.readers.Done()
		}
	}
}

// stopped are the numbers of processes that a signal has stopped, in a list of
// numbers and states.
func stopped(list [][]string) []int {
	var pids []int
	for _, row := range list {
		if len(row) != 2 || !strings.HasPrefix(row[1], "T") {
			continue
		}
		if pid, err := strconv.Atoi(row[0]); err == nil && pid > 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}
