package docker

import (
	"github.com/docker/docker/api/types/container"

	"github.com/belljar/belljar/sandbox"
)

// ulimits are the limits of each process. There is none on the number of
// processes: it would count the user's on the whole host.
func (p *plan) ulimits() []*container.Ulimit { return p.withProcesses(ulimits(p.spec.Limits)) }

// withProcesses adds the limit on processes that Podman wants.
func (p *plan) withProcesses(list []*container.Ulimit) []*container.Ulimit {
	if limit, known := ownProcesses(); known && p.engine.Podman() {
		// It sets one of its own otherwise, which fails where that is more
		// than it may set.
		list = append(list, &container.Ulimit{Name: "nproc", Soft: limit, Hard: limit})
	}
	return list
}

// ulimits are those that every engine is asked for.
func ulimits(l sandbox.Limits) []*container.Ulimit {
	list := []*container.Ulimit{
		{Name: "nofile", Soft: l.NoFile, Hard: l.NoFile},
		{Name: "core", Soft: 0, Hard: 0},
		sharedUlimit("msgqueue", maxQueueBytes), sharedUlimit("sigpending", maxSignals),
	}
	if l.Disk > 0 {
		list = append(list, &container.Ulimit{Name: "fsize", Soft: l.Disk, Hard: l.Disk})
	}
	return list
}

// What the kernel counts for a user on the whole machine, for the owner outside
// too, is held small: bytes in queues of messages (three of the usual size), and
// signals and timers under way. The kernel's own limits are three times the one
// and many times the other.
const (
	maxQueueBytes = 256 << 10
	maxSignals    = 1024
)

// sharedUlimit is a limit of at most that much, and no more than this process
// may set, which is as good as what an engine without root may.
func sharedUlimit(name string, most int64) *container.Ulimit {
	limit := min(most, ownLimit(name, most))
	return &container.Ulimit{Name: name, Soft: limit, Hard: limit}
}
