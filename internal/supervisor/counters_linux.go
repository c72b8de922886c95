package supervisor

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// counterFiles are the files of the container's control group that count what
// went wrong, in whichever version the machine has; "" where there is none.
type counterFiles struct {
	oom, fork, pids, pidsMax string
}

// newCounterFiles finds them. They are readable without privilege; which path
// they have depends on the version and on whether the group's name space is
// the container's own.
func newCounterFiles() counterFiles {
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
	find := func(controller, v1, v2 string) string {
		for _, candidate := range []string{
			path.Join(top, controller, groups[controller], v1), path.Join(top, controller, v1),
			path.Join(top, groups[""], v2), path.Join(top, v2),
		} {
			if unix.Access(candidate, unix.R_OK) == nil {
				return candidate
			}
		}
		return ""
	}
	return counterFiles{
		oom:     find("memory", "memory.oom_control", "memory.events"),
		fork:    find("pids", "pids.events", "pids.events"),
		pids:    find("pids", "pids.current", "pids.current"),
		pidsMax: find("pids", "pids.max", "pids.max"),
	}
}

// read reads the counters as they are now.
func (f counterFiles) read() Counters {
	return Counters{
		OOMKills:     field(f.oom, "oom_kill "),
		ForkFailures: field(f.fork, "max "),
		Pids:         field(f.pids, ""),
		PidsMax:      field(f.pidsMax, ""),
	}
}

// field reads the number behind a word at the start of a line, or -1.
func field(file, word string) int64 {
	if file == "" {
		return -1
	}
	var buf [512]byte
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	n, err := unix.Read(fd, buf[:])
	unix.Close(fd)
	if err != nil {
		return -1
	}
	for line := range bytes.Lines(buf[:max(n, 0)]) {
		if rest, ok := bytes.CutPrefix(line, []byte(word)); ok {
			if value, err := strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64); err == nil {
				return value
			}
		}
	}
	return -1
}
