package docker

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"

	"github.com/belljar/belljar/sandbox"
)

// An ending is what the engine tells of a container of gVisor: all that runs
// inside is a single process for the host, so that what goes over a limit takes
// the whole sandbox along, and the engine's word is the only evidence of why.
// With other runtimes, also where nothing counts, its word on memory means that
// one process was ended.
type ending struct {
	outOfMemory atomic.Bool
	told        chan struct{} // closed when all was told, or nothing will be
}

// watchEnding listens to what the engine tells of a container until it has
// died. It is called before the container's start, so that nothing is missed.
func (b *box) watchEnding(ctx context.Context) {
	if !b.engine.gvisor(b.info.Runtime) {
		return
	}
	b.ending = &ending{told: make(chan struct{})}
	watchCtx, stop := context.WithCancel(b.lifetime)
	giveUp := context.AfterFunc(ctx, stop) // the client waits for the answer's head
	messages, failed := b.engine.api.Events(watchCtx, events.ListOptions{Filters: filters.NewArgs(
		filters.Arg("container", b.id), filters.Arg("event", string(events.ActionOOM)), filters.Arg("event", string(events.ActionDie)),
	)})
	giveUp()
	b.readers.Go(func() {
		defer stop()
		defer close(b.ending.told)
		for {
			select {
			case m := <-messages:
				if m.Action == events.ActionDie {
					return
				}
				b.ending.outOfMemory.Store(true)
			case <-failed:
				return
			}
		}
	})
}

// ranOut tells whether the sandbox has ended since it went over its memory. The
// engine tells of that first and of the container's end after it.
func (b *box) ranOut() bool {
	if b.ending == nil || closed(b.closing) {
		return false
	}
	for _, told := range []<-chan struct{}{b.lease.lost, b.ending.told} {
		select {
		case <-told:
		case <-b.closing:
			return false
		case <-time.After(endWait):
			return false
		}
	}
	return b.ending.outOfMemory.Load()
}

// exhausted makes the result of a command with which the sandbox has ended
// since that went over its memory; status is what else was to end it, if
// anything. Later commands are told that the sandbox is lost.
func (r *run) exhausted(status sandbox.Status) (sandbox.Result, bool) {
	if !r.box.ranOut() {
		return sandbox.Result{}, false
	}
	r.spare.close()
	// Diagnosed now, while the engine may still know of the container.
	_ = r.box.explain("running a command", sandbox.ErrLost)
	result := sandbox.Result{Dir: r.startDir(), DirLost: r.dirLost, OOMKills: 1, Reason: outOfMemory, Status: status}
	if status == "" {
		result.Status, result.Signal = sandbox.OutOfMemory, "SIGKILL"
	}
	return result, true
}

// outOfMemory is the reason in a result when the sandbox went with its command.
const outOfMemory = "with this runtime that ends the whole sandbox"
