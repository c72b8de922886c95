package docker

import (
	"time"

	"github.com/belljar/belljar/internal/supervisor"
)

// A command can stop every process of its user, and so an exec that is being
// started for the next one. The engine then answers nothing about the container
// any more until that goes on, and nothing within can see to it. What helps is
// done from the host: it needs an engine on this machine, and the right to
// signal the container's processes, which root has and the owner too.

// stuckWait is how long the start of an exec takes before it is thought to be
// stopped. Engines on busy machines were seen to take half of it.
const stuckWait = 4 * time.Second

// stuckKillWait is the same for one that is to end processes. Nothing of value
// is stopped for a moment then.
const stuckKillWait = time.Second

// stuckEndWait is the same for the removal of a container. Nobody misses what is
// continued then.
const stuckEndWait = time.Second

// wake continues what is stopped in the container, and tells whether there was
// something.
func (b *box) wake() bool { return continueAll(b.id) }

// hold continues the supervisors, also those that are being started, and stops
// everything else and the supervisors of the victims, so that nothing can stop
// a supervisor again before it has ended them. It tells whether it could.
// Whatever follows must end with everything continued.
func (b *box) hold(victims []supervisor.Proc) bool {
	var inside []int
	for _, victim := range victims {
		inside = append(inside, victim.PID)
	}
	return continueSupervisors(b.id, inside)
}

// wakeIfStuck wakes what is in the container if that is not called off in time.
func (b *box) wakeIfStuck(wait time.Duration) (callOff func()) {
	return after(wait, func() { b.wake() })
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
