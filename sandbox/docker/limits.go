package docker

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/sandbox"
)

// The least that an engine takes and a supervisor can work with.
const (
	minCPUs   = 0.01
	minNoFile = 64
)

// maxPids is the kernel's PID_MAX_LIMIT, see proc(5).
const maxPids = 1 << 22

// gvisorThreads bounds the host's threads of a container in gVisor, so that a
// fork bomb inside takes its sandbox and not the host. Two hundred processes
// were seen to need two thousand.
const gvisorThreads = 1 << 14

// checkLimits refuses limits that could not be in force.
func (e *Engine) checkLimits(spec sandbox.Spec) error {
	l := spec.Limits
	switch {
	case l.Memory < sandbox.MinMemory:
		return fmt.Errorf("a memory limit of %s is too little: at least %s", output.Size(l.Memory), output.Size(sandbox.MinMemory))
	case e.info.MemTotal > 0 && l.Memory > e.info.MemTotal:
		return fmt.Errorf("a memory limit of %s is more than the engine's %s", output.Size(l.Memory), output.Size(e.info.MemTotal))
	case l.CPUs <= 0 || math.IsNaN(l.CPUs):
		return fmt.Errorf("a limit of %v processors makes no sense", l.CPUs)
	case e.info.NCPU > 0 && l.CPUs > float64(e.info.NCPU):
		return fmt.Errorf("a limit of %v processors is more than the engine's %d", l.CPUs, e.info.NCPU)
	case l.CPUs < minCPUs:
		return fmt.Errorf("a limit of %v processors is too little: at least %v", l.CPUs, minCPUs)
	case l.NoFile < minNoFile:
		return fmt.Errorf("a limit of %d open files is too little: at least %d", l.NoFile, minNoFile)
	case l.Disk < sandbox.MinDisk && l.Disk != sandbox.NoLimit:
		return fmt.Errorf("a disk limit of %d bytes is too little: at least %s", l.Disk, output.Size(sandbox.MinDisk))
	case l.Tmp < 0 || l.Home < 0 || l.Shm <= 0:
		return errors.New("the sizes of /tmp, the home folder and /dev/shm must be positive")
	}
	if l.CPUSet != "" {
		if n, err := sandbox.CountCPUs(l.CPUSet); err != nil {
			return err
		} else if l.CPUs > float64(n) {
			return fmt.Errorf("a limit of %v processors is more than the %d of the cpuset %s", l.CPUs, n, l.CPUSet)
		}
	}
	return e.checkPids(l.Pids, spec.Runtime)
}

// checkPids refuses a limit on processes that could not be in force.
func (e *Engine) checkPids(pids int64, runtime string) error {
	switch {
	case e.gvisor(runtime) && pids != 0:
		return errors.New("a process limit cannot be had with gVisor, where the threads of its own kernel would count: leave it out")
	case e.gvisor(runtime):
		return nil
	case pids < sandbox.MinPids:
		return fmt.Errorf("a process limit of %d is too little: at least %d", pids, sandbox.MinPids)
	case pids > maxPids:
		return fmt.Errorf("a process limit of %d is more than Linux has: at most %d", pids, maxPids)
	default:
		return nil
	}
}

// cgroupPids is the limit on the container's threads as the host counts them.
func (p *plan) cgroupPids() int64 {
	if p.engine.gvisor(p.spec.Runtime) {
		return gvisorThreads
	}
	return p.spec.Limits.Pids
}

// counts are variables by which common tools learn how many threads to start.
// Left alone these count the host's processors and know nothing of a quota:
// programs made with Go before 1.25, OpenMP and the numeric libraries that
// follow its variable, Rayon, and Python's os.cpu_count.
func (p *plan) counts() []string {
	n := strconv.Itoa(max(1, int(math.Ceil(p.spec.Limits.CPUs))))
	return []string{"GOMAXPROCS=" + n, "OMP_NUM_THREADS=" + n, "RAYON_NUM_THREADS=" + n, "PYTHON_CPU_COUNT=" + n}
}
