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
	limit atomic.Pointer[exhaustion] // what went over, if anything did
	told  chan struct{}              // closed when all was told, or nothing will be
}

// An exhaustion is a limit that a sandbox has gone over and ended.
type exhaustion struct {
	status sandbox.Status
	reason string
}

// noThreadCode is the exit code of gVisor's kernel, which is a program in Go,
// when it cannot go on by itself: the limit on its threads is what can stop it
// from outside.
const noThreadCode = "2"

// memoryOver and threadsOver are the two that end a sandbox of gVisor.
func memoryOver() *exhaustion {
	return &exhaustion{sandbox.OutOfMemory, "with this runtime that ends the whole sandbox"}
}

func threadsOver() *exhaustion {
	return &exhaustion{sandbox.PidsLimit, "the runtime's kernel ended with exit code " + noThreadCode +
		", as it does when it can start no more threads, and with it the whole sandbox"}
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
				if m.Action == events.ActionOOM {
					b.ending.limit.Store(memoryOver())
					continue
				}
				if m.Actor.Attributes["exitCode"] == noThreadCode {
					b.ending.limit.CompareAndSwap(nil, threadsOver())
				}
				return
			case <-failed:
				return
			}
		}
	})
}

// ranOut tells which limit the sandbox has ended by, nil for none. The engine
// tells of memory first and of the container's end after it.
func (b *box) ranOut() *exhaustion {
	if b.ending == nil || closed(b.closing) {
		return nil
	}
	for _, told := range []<-chan struct{}{b.lease.lost, b.ending.told} {
		select {
		case <-told:
		case <-b.closing:
			return nil
		case <-time.After(endWait):
			return nil
		}
	}
	return b.ending.limit.Load()
}

// exhausted makes the result of a command with which the sandbox has ended
// since that went over a limit; status is what else was to end it, if anything.
// Later commands are told that the sandbox is lost.
func (r *run) exhausted(status sandbox.Status) (sandbox.Result, bool) {
	limit := r.box.ranOut()
	if limit == nil {
		return sandbox.Result{}, false
	}
	r.spare.close()
	// Diagnosed now, while the engine may still know of the container.
	_ = r.box.explain("running a command", sandbox.ErrLost)
	result := sandbox.Result{Dir: r.startDir(), DirLost: r.dirLost, Reason: limit.reason, Status: status}
	if limit.status == sandbox.OutOfMemory {
		result.OOMKills = 1
	} else {
		result.ForkFailures = 1
	}
	if status == "" {
		result.Status, result.Signal = limit.status, "SIGKILL"
	}
	return result, true
}
