//go:build !linux

package supervisor

// Main cannot serve here: containers are Linux.
func Main([]string) int { return 125 }

// CgroupLimits cannot be read here: control groups are Linux's.
func CgroupLimits(int, string) Limits {
	return Limits{Memory: Unknown, Swap: Unknown, MilliCPUs: Unknown, Pids: Unknown, NoFile: Unknown, Processors: Unknown}
}
