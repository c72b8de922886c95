package supervisor

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"
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
	const top = "/sys/fs/cgroup"
	groups := map[string]string{} // by controller; "" is version 2
	data, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(data)) {
		if parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3); len(parts) == 3 {
			for name := range strings.SplitSeq(parts[1], ",") {
				groups[name] = parts[2]
			}
		}
	}
	open := func(controller, v1, v2 string) int {
		for _, candidate := range []string{
			path.Join(top, controller, groups[controller], v1), path.Join(top, controller, v1),
			path.Join(top, groups[""], v2), path.Join(top, v2),
		} {
			if fd, err := unix.Open(candidate, unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
				return fd
			}
		}
		return -1
	}
	files := counterFiles{
		oom:  open("memory", "memory.oom_control", "memory.events"),
		fork: open("pids", "pids.events", "pids.events"),
		pids: open("pids", "pids.current", "pids.current"),
	}
	limit := open("pids", "pids.max", "pids.max")
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
