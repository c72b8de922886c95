package supervisor

import (
	"maps"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// unlimitedMemory is about what version 1 says of a group without a limit on
// memory: the largest number of bytes in whole pages of any size.
const unlimitedMemory = math.MaxInt64 &^ (1<<16 - 1)

// readLimits reads the limits of this process and the sizes of places.
func readLimits(places [][]byte) Limits {
	limits := readCgroups("self").limits(true)
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		limits.NoFile = clamp(files.Max)
	}
	var size unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &size) == nil {
		limits.FileSize = clamp(size.Max)
	}
	status, _ := os.ReadFile("/proc/self/status")
	limits.NoNewPrivs, limits.Seccomp = statusNumber(string(status), "NoNewPrivs"), statusNumber(string(status), "Seccomp")
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) == nil {
		limits.Processors = int64(set.Count())
	}
	for _, place := range places {
		var fs unix.Statfs_t
		size := int64(0)
		if unix.Statfs(string(place), &fs) == nil && fs.Type == unix.TMPFS_MAGIC {
			size = clamp(fs.Blocks * uint64(fs.Bsize))
		}
		limits.Sizes = append(limits.Sizes, size)
	}
	return limits
}

// CgroupLimits reads the limits that the control groups of a process of this
// machine set, given its number. belongs is a part of the groups' names, such as
// a container's id, without which the process is another one and nothing is
// known.
func CgroupLimits(pid int, belongs string) Limits {
	groups := readCgroups(strconv.Itoa(pid))
	maps.DeleteFunc(groups.of, func(_, group string) bool { return !strings.Contains(group, belongs) })
	return groups.limits(false)
}

// limits reads what the groups set. At the top of the mount lie the files of a
// group that sees itself there, which is so only inside.
func (g cgroups) limits(inside bool) Limits {
	read := func(controller, v1, v2 string) string {
		for _, file := range g.paths(controller, v1, v2) {
			if dir := path.Dir(file); !inside && (dir == g.top || dir == path.Join(g.top, controller)) {
				continue
			}
			if text, err := os.ReadFile(file); err == nil {
				return strings.TrimSpace(string(text))
			}
		}
		return ""
	}
	l := Limits{
		Memory: limitOf(read("memory", "memory.limit_in_bytes", "memory.max")), Swap: Unknown,
		MilliCPUs: Unknown,
		Pids:      limitOf(read("pids", "pids.max", "pids.max")),
		NoFile:    Unknown, Processors: Unknown, FileSize: Unknown, NoNewPrivs: Unknown, Seccomp: Unknown,
	}
	both := limitOf(read("memory", "memory.memsw.limit_in_bytes", "none"))
	alone := limitOf(read("memory", "none", "memory.swap.max"))
	switch {
	case l.Memory == Unknown:
	case alone != Unknown:
		l.Swap = alone
	case both == Unlimited:
		l.Swap = Unlimited
	case both != Unknown:
		l.Swap = both - l.Memory
	case !swaps():
		l.Swap = 0 // neither accounted for nor there
	}
	quota, period, ok := strings.Cut(read("cpu", "none", "cpu.max"), " ")
	if !ok {
		quota, period = read("cpu", "cpu.cfs_quota_us", "none"), read("cpu", "cpu.cfs_period_us", "none")
	}
	switch q, p := limitOf(quota), limitOf(period); {
	case quota == "":
	case q == Unlimited || quota == "-1":
		l.MilliCPUs = Unlimited
	case q > 0 && p > 0:
		l.MilliCPUs = int64(math.Round(1000 * float64(q) / float64(p)))
	}
	return l
}

// limitOf reads a limit; "max" is that of version 2 for none.
func limitOf(text string) int64 {
	if text == "max" {
		return Unlimited
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || n < 0:
		return Unknown
	case n >= unlimitedMemory:
		return Unlimited
	}
	return n
}

// statusNumber is a field of a status, in the form of proc_pid_status(5).
func statusNumber(status, name string) int64 {
	for line := range strings.Lines(status) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			return limitOf(strings.TrimSpace(value))
		}
	}
	return Unknown
}

// swaps tells whether the machine may have swap space.
func swaps() bool {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "SwapTotal:" {
			return fields[1] != "0"
		}
	}
	return true
}

// clamp makes a limit of an unsigned number, the largest of which is none.
func clamp(n uint64) int64 { return int64(min(n, math.MaxInt64)) }
