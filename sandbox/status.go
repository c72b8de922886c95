package sandbox

// A Status is how a command ended. Each is told by evidence: what wait(2)
// said, what the sandbox's counters said, or what belljar itself did.
type Status string

const (
	// Exited: the top-level shell ended by itself. An exit code above 128 is
	// still Exited.
	Exited Status = "exited"
	// Signaled: the shell was killed by a signal that belljar did not send.
	Signaled Status = "signaled"
	// Canceled: the caller's context was done.
	Canceled Status = "canceled"
	// TimedOut: Command.Timeout passed.
	TimedOut Status = "timeout"
	// OutputLimit: more than Command.OutputLimit bytes came.
	OutputLimit Status = "output_limit"
	// DiskLimit: the sandbox's writes went over its disk limit, and the command
	// was ended for it or failed by itself.
	DiskLimit Status = "disk_limit"
	// OutOfMemory: the out-of-memory counter rose and the shell did not exit 0.
	OutOfMemory Status = "out_of_memory"
	// PidsLimit: forks failed at the process limit and the shell did not exit
	// 0, or the limit was still full at the end and had to be cleared.
	PidsLimit Status = "pids_limit"
)

// Ended tells a status that belljar brought about itself from one that the
// command came to by itself.
func (s Status) Ended() bool {
	switch s {
	case Canceled, TimedOut, OutputLimit, DiskLimit:
		return true
	default:
		return false
	}
}
