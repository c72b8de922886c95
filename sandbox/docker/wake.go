package docker

import (
	"time"

	"github.com/belljar/belljar/internal/supervisor"
)

// A command can stop every process of its user, and so an exec that is being
// started for the next one. The engine then answers nothing about the container
// any more until that goes on, and nothing within can see to it. What helps is
// done from the host: it needs an engine on this machine, and the right to
// signal the container's processes, which root has, and where commands are the
// owner's the owner too.

const (
	// stuckWait is how long the start of an exec takes before it is looked
	// whether it is stopped. It takes a tenth of a second.
	stuckWait = 4 * time.Second
	// stuckKillWait is the same for one that is to end processes.
	stuckKillWait = time.Second
	// stuckEndWait is the same for the removal of a container. Nobody misses
	// what is continued then.
	stuckEndWait = time.Second
)

// wake continues what is stopped in the container if a supervisor is among it,
// and tells whether one was. While processes are held it does nothing: the
// holder continues them.
func (b *box) wake() bool {
	b.waking.Lock()
	defer b.waking.Unlock()
	return !b.held && b.processesHere() && continueStuck(b.id)
}

// wakeable tells whether wake and hold can do anything.
func (b *box) wakeable() bool { return b.processesHere() && mayContinue(b.id) }

// processesHere tells whether the container's processes may be this machine's,
// each for itself. Podman has more in a container's control group than what is
// in the container, and gVisor has a kernel of its own there.
func (b *box) processesHere() bool {
	return !b.engine.Podman() && !b.engine.gvisor(b.info.Runtime)
}

// A holder keeps a container's processes from stopping supervisors while some
// are ended. Whoever makes one holds killing, and releases it.
type holder struct {
	box     *box
	victims []supervisor.Proc
	tried   bool
}

// hold continues the supervisors, also those that are being started, and stops
// everything else and the supervisors of the victims. It tells whether it could.
func (h *holder) hold() bool {
	h.box.waking.Lock()
	defer h.box.waking.Unlock()
	if !h.box.processesHere() {
		return false
	}
	h.tried, h.box.held = true, true
	return continueSupervisors(h.box.id, h.victims)
}

// release continues everything.
func (h *holder) release() {
	h.box.waking.Lock()
	defer h.box.waking.Unlock()
	if h.tried {
		h.box.held = false
		continueAll(h.box.id)
	}
}

// after does something if that is not called off in time. Where it has begun to
// do it, calling it off waits for the end.
func after(wait time.Duration, do func()) (callOff func()) {
	done := make(chan struct{})
	timer := time.AfterFunc(wait, func() {
		defer close(done)
		do()
	})
	return func() {
		if !timer.Stop() {
			<-done
		}
	}
}
