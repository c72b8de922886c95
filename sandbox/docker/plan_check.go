package docker

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/docker/go-units"

	"github.com/belljar/belljar/sandbox"
)

// The least that an engine takes and a supervisor can work with.
const (
	minCPUs   = 0.01
	minNoFile = 64
)

// maxPids is the kernel's PID_MAX_LIMIT, see proc(5).
const maxPids = 1 << 22

// checkSpec refuses what could not work, before anything is made.
func (e *Engine) checkSpec(spec sandbox.Spec) error {
	switch info, err := os.Stat(spec.Workspace); {
	case err != nil:
		return fmt.Errorf("looking at the workspace: %w", err)
	case !info.IsDir():
		return fmt.Errorf("the workspace %s is no folder", spec.Workspace)
	case !utf8.ValidString(spec.Workspace):
		return fmt.Errorf("the workspace's path %q is not UTF-8, which the engine cannot take: rename the folder", spec.Workspace)
	case !filepath.IsAbs(spec.Workspace):
		return fmt.Errorf("the workspace %q is not an absolute path", spec.Workspace)
	}
	if err := checkMounts(spec.Mounts); err != nil {
		return err
	}
	l := spec.Limits
	switch {
	case l.Memory < sandbox.MinMemory:
		return fmt.Errorf("a memory limit of %s is too little: at least %s", units.BytesSize(float64(l.Memory)), units.BytesSize(float64(sandbox.MinMemory)))
	case l.Pids < sandbox.MinPids:
		return fmt.Errorf("a process limit of %d is too little: at least %d", l.Pids, sandbox.MinPids)
	case l.Pids > maxPids:
		return fmt.Errorf("a process limit of %d is more than Linux has: at most %d", l.Pids, maxPids)
	case l.CPUs <= 0 || math.IsNaN(l.CPUs):
		return fmt.Errorf("a limit of %v processors makes no sense", l.CPUs)
	case e.info.NCPU > 0 && l.CPUs > float64(e.info.NCPU):
		return fmt.Errorf("a limit of %v processors is more than the engine's %d", l.CPUs, e.info.NCPU)
	case l.CPUs < minCPUs:
		return fmt.Errorf("a limit of %v processors is too little: at least %v", l.CPUs, minCPUs)
	case e.info.MemTotal > 0 && l.Memory > e.info.MemTotal:
		return fmt.Errorf("a memory limit of %s is more than the engine's %s", units.BytesSize(float64(l.Memory)), units.BytesSize(float64(e.info.MemTotal)))
	case l.NoFile < minNoFile:
		return fmt.Errorf("a limit of %d open files is too little: at least %d", l.NoFile, minNoFile)
	case l.Disk < sandbox.MinDisk && l.Disk != sandbox.NoLimit:
		return fmt.Errorf("a disk limit of %d bytes is too little: at least %s", l.Disk, units.BytesSize(float64(sandbox.MinDisk)))
	case l.Tmp < 0 || l.Home < 0 || l.Shm <= 0:
		return errors.New("the sizes of /tmp, the home folder and /dev/shm must be positive")
	}
	if err := (sandbox.Command{Script: ":", Env: spec.Env}).Check(); err != nil {
		return err
	}
	if err := spec.Protect.Check(); err != nil {
		return err
	}
	switch spec.Network {
	case sandbox.NetworkNone, sandbox.NetworkAllow, sandbox.NetworkBridge:
	default:
		return fmt.Errorf("the network mode %q is unknown: none, allow or bridge", spec.Network)
	}
	if err := e.checkOutlet(spec); err != nil {
		return err
	}
	if _, ok := e.info.Runtimes[spec.Runtime]; spec.Runtime != "" && !ok {
		return fmt.Errorf("the engine has no runtime %q: it has %s", spec.Runtime, strings.Join(sortedKeys(e.info.Runtimes), ", "))
	}
	return nil
}

// checkInMemory refuses sizes that were asked for and take more than half of
// the memory: folders that can fill it let every later command die.
func checkInMemory(asked, l sandbox.Limits) error {
	together := l.Tmp + l.Home + l.Shm
	if asked.Tmp+asked.Home+asked.Shm == 0 || together <= l.Memory/2 {
		return nil
	}
	return fmt.Errorf("/tmp, the home folder and /dev/shm would take %s of memory together, and may take half of %s: ask for less or raise the memory",
		units.BytesSize(float64(together)), units.BytesSize(float64(l.Memory)))
}
