package escape

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

func namespaceAttempts() []attempt {
	var list []attempt
	for _, ns := range []struct {
		name string
		flag int
	}{
		{"mounts", unix.CLONE_NEWNS}, {"network", unix.CLONE_NEWNET}, {"processes", unix.CLONE_NEWPID},
		{"host name", unix.CLONE_NEWUTS}, {"messages", unix.CLONE_NEWIPC}, {"control groups", unix.CLONE_NEWCGROUP},
	} {
		list = append(list, attempt{area: Namespaces, name: "a new namespace of " + ns.name, hostKernel: true, try: func() error { return unshare(ns.flag) }})
	}
	return append(list,
		attempt{area: Namespaces, name: "a new namespace of users", hostKernel: true, try: newUserNamespace},
		attempt{area: Namespaces, name: "enter the namespace of process 1", try: enterNamespace},
	)
}

// unshare tries on a thread that is thrown away afterwards.
func unshare(flag int) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		result <- unix.Unshare(flag)
	}()
	return <-result
}

// newUserNamespace tries in a child, since a process of several threads may
// not. Rights over a user namespace open most doors of the kernel.
func newUserNamespace() error {
	cmd := exec.Command("/proc/self/exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil // it ran
	}
	return err
}

func enterNamespace() error {
	fd, err := unix.Open("/proc/1/ns/mnt", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Setns(fd, unix.CLONE_NEWNS)
}
