package supervisor

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// seize attaches to a process so that it stops once at its end. It tells
// whether that is allowed here. See ptrace(2), PTRACE_SEIZE.
func seize(pid int) bool {
	return ptrace(unix.PTRACE_SEIZE, pid, unix.PTRACE_O_TRACEEXIT) == nil
}

// resume lets a stopped child go on as if it were not traced, and notes its
// directory when the stop is the one before its end.
func (c *child) resume(status unix.WaitStatus) {
	const (
		eventExit  = unix.PTRACE_EVENT_EXIT
		eventGroup = unix.PTRACE_EVENT_STOP
	)
	sig := status.StopSignal()
	switch event := int(status) >> 16; event {
	case eventExit:
		link := "/proc/" + strconv.Itoa(c.pid) + "/cwd"
		if dir, err := os.Readlink(link); err == nil {
			c.end.dir, c.end.gone = dir, !sameFile(link, dir)
		}
		_ = ptrace(unix.PTRACE_CONT, c.pid, 0)
	case eventGroup:
		switch sig {
		case unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
			// Stopped for real: wait for its SIGCONT without waking it.
			_ = ptrace(unix.PTRACE_LISTEN, c.pid, 0)
		default:
			_ = ptrace(unix.PTRACE_CONT, c.pid, 0)
		}
	case 0:
		_ = ptrace(unix.PTRACE_CONT, c.pid, uintptr(sig)) // deliver the signal
	default:
		_ = ptrace(unix.PTRACE_CONT, c.pid, 0)
	}
}

func ptrace(request, pid int, data uintptr) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(pid), 0, data, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
