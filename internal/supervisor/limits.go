package supervisor

import "math"

// Unknown is a limit that cannot be read, and Unlimited one that is not set.
const (
	Unknown   = int64(-1)
	Unlimited = int64(math.MaxInt64)
)

// Limits are those that are in force, as far as they can be read. Sizes are
// bytes.
type Limits struct {
	// Memory is the control group's limit, and Swap what may be used beside it.
	Memory, Swap int64
	// MilliCPUs is the processors' worth of time, in thousandths.
	MilliCPUs int64
	Pids      int64
	// NoFile is the hard limit on open files of the process that reads.
	NoFile int64
	// FileSize is the hard limit on the size of a file, likewise.
	FileSize int64
	// NoNewPrivs and Seccomp are what the kernel says of that process: whether
	// programs can give it no more rights, 1 or 0, and 2 for a filter of its
	// system calls, see proc_pid_status(5).
	NoNewPrivs, Seccomp int64
	// Processors is how many processors that process may run on.
	Processors int64
	// Sizes are those of the in-memory file systems at the places that were
	// asked about, in that order; 0 is a place that is on no such one.
	Sizes []int64 `json:",omitempty"`
}
