package docker

import (
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ownProcesses is a limit on the processes of a user that any engine of this
// machine may set: what this process has, and not more than there can be. It is
// known only on Linux.
func ownProcesses() (limit int64, known bool) {
	text, err := os.ReadFile("/proc/sys/kernel/pid_max")
	if err != nil {
		return 0, false
	}
	most, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0, false
	}
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &own); err != nil {
		return 0, false
	}
	return int64(min(uint64(most), own.Max)), true
}

// ownLimit is the hard limit that this process has under an engine's name for
// it, or the given one where it cannot be read.
func ownLimit(name string, unknown int64) int64 {
	resource, known := map[string]int{"msgqueue": unix.RLIMIT_MSGQUEUE, "sigpending": unix.RLIMIT_SIGPENDING}[name]
	var own unix.Rlimit
	if !known || unix.Getrlimit(resource, &own) != nil {
		return unknown
	}
	return int64(min(own.Max, math.MaxInt64))
}
