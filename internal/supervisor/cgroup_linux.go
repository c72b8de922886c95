package supervisor

import (
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// cgroupTop is where control groups are mounted.
const cgroupTop = "/sys/fs/cgroup"

// cgroups are the control groups of a process.
type cgroups struct {
	top string            // where they are mounted
	of  map[string]string // the group by controller; "" is version 2
}

// readCgroups reads the control groups of a process, named as in /proc.
func readCgroups(process string) cgroups {
	groups := make(map[string]string)
	data, _ := os.ReadFile(path.Join("/proc", process, "cgroup"))
	for line := range strings.Lines(string(data)) {
		if parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3); len(parts) == 3 {
			for name := range strings.SplitSeq(parts[1], ",") {
				groups[name] = parts[2]
			}
		}
	}
	return cgroups{top: cgroupTop, of: groups}
}

// paths lists where a controller's file may be, the likeliest first: its name
// differs between the versions, and the group's path depends on whether the
// name space of groups is the process's own.
func (g cgroups) paths(controller, v1, v2 string) []string {
	return []string{
		path.Join(g.top, controller, g.of[controller], v1), path.Join(g.top, controller, v1),
		path.Join(g.top, g.of[""], v2), path.Join(g.top, v2),
	}
}

// open opens a controller's file, or returns -1.
func (g cgroups) open(controller, v1, v2 string) int {
	for _, candidate := range g.paths(controller, v1, v2) {
		if fd, err := unix.Open(candidate, unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
			return fd
		}
	}
	return -1
}
