package supervisor

import (
	"bytes"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// counterFiles are the files of the container's control group that count what
// went wrong, in whichever version the machine has. They stay open, since to
// open one takes longer than to read it; -1 is one that is not there.
type counterFiles struct {
	oom, fork, pids int
	pidsMax         int64 // read once: the limit of a container stays
}

// openCounterFiles finds and opens them for the life of the process. They are
// readable without privilege; which path they have depends on the version and
// on whether the group's name space is the container's own.
func openCounterFiles() counterFiles {
	groups := readCgroups("self")
	files := counterFiles{
		oom:  groups.open("memory", "memory.oom_control", "memory.events"),
		fork: groups.open("pids", "pids.events", "pids.events"),
		pids: groups.open("pids", "pids.current", "pids.current"),
	}
	limit := groups.open("pids", "pids.max", "pids.max")
	files.pidsMax = field(limit, "")
	unix.Close(limit)
	return files
}

// read reads the counters as they are now.
func (f counterFiles) read() Counters {
	return Counters{
		OOMKills:     field(f.oom, "oom_kill "),
		ForkFailures: field(f.fork, "max "),
		Pids:         field(f.pids, ""),
		PidsMax:      f.pidsMax,
	}
}

// field reads the number behind a word at the start of a line, or -1.
func field(fd int, word string) int64 {
	if fd < 0 {
		return -1
	}
	var buf [512]byte
	n, _, errno := unix.RawSyscall6(unix.SYS_PREAD64, uintptr(fd), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0, 0)
	if errno != 0 {
		return -1
	}
	for line := range bytes.Lines(buf[:n]) {
		if rest, ok := bytes.CutPrefix(line, []byte(word)); ok {
			if value, err := strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64); err == nil {
				return value
			}
		}
	}
	return -1
}
