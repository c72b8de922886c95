package supervisor

import (
	"runtime"
	"runtime/debug"
)

// collectAbove is how much memory a spare may take up by serving requests before
// it gives back what is no longer used, in bytes.
const collectAbove = 4 << 20

// collect keeps a spare small that serves many requests before its own command
// comes, if it ever does: the collector does not run by itself (see Environ),
// and the sandbox's memory is the commands'. The threads that it needs are
// there from the start.
func collect() {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	if mem.HeapAlloc > collectAbove {
		debug.FreeOSMemory()
	}
}
