package docker

import "github.com/belljar/belljar/sandbox"

// devSize is the size of the file system in memory that engines make at /dev,
// and leastFolder the least of one beside it.
const (
	devSize     = 64 * sandbox.MiB
	leastFolder = 4 * sandbox.MiB
)

// writableDev tells whether commands can fill /dev: where they are root and the
// engine takes no list of what is read-only, see readOnlyPaths. A kernel of the
// sandbox's own ends as a whole when its memory is full, whatever it is full of.
func (e *Engine) writableDev(spec sandbox.Spec) bool {
	root := spec.User == sandbox.UserRoot || spec.Owner.UID == 0 || e.Rootless()
	return root && e.Podman()
}

// besideDev makes the in-memory folders smaller whose sizes nobody asked for, so
// that /dev and all of them together stay within half of the memory, as far as
// the least of sizes allows.
func besideDev(asked, l sandbox.Limits) sandbox.Limits {
	room, open := l.Memory/2-devSize, int64(0)
	folders := []struct {
		asked int64
		size  *int64
	}{{asked.Tmp, &l.Tmp}, {asked.Home, &l.Home}, {asked.Shm, &l.Shm}}
	for _, f := range folders {
		if f.asked > 0 {
			room -= f.asked
		} else {
			open += *f.size
		}
	}
	for _, f := range folders {
		if f.asked == 0 && *f.size > 0 && open > room {
			*f.size = max(*f.size*max(room, 0)/open&^4095, min(*f.size, leastFolder))
		}
	}
	return l
}
