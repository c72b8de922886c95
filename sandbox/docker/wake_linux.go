package docker

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// resume continues a process of this machine if it is one of the container. The
// engine may be on another machine after all, behind a socket of this one; then
// the number stands for a process that is not in a control group of this name.
func resume(pid int, container string) bool {
	process, err := os.FindProcess(pid) // held from here on, so that the number is not another's
	if err != nil {
		return false
	}
	defer process.Release()
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	return err == nil && bytes.Contains(groups, []byte(container)) && process.Signal(syscall.SIGCONT) == nil
}
