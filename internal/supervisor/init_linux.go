package supervisor

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// initMain is PID 1. The lease is its stdin: the owner holds it open and
// writes a byte now and then, each of which is answered on stdout, so that the
// owner can tell a stalled connection too. It returns, which ends the
// container, at end-of-file or after the given seconds of silence.
//
// Signals are ignored: the kernel shields PID 1 from SIGKILL out of its own
// namespace, and the rest must not end the sandbox either when a command that
// may signal it does kill -TERM -1. The engine ends it with SIGKILL.
//
// Where commands are root they are of the same user as PID 1, which then gives
// what they made to its owner before it ends.
func initMain(seconds int, giving *Giving) int {
	if giving != nil {
		if giving.Since == 0 {
			giving.Since = fileClock()
		}
		protect()
	}
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGPIPE, syscall.SIGALRM, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
	holdLease(time.Duration(seconds) * time.Second)
	if giving != nil {
		return giveLast(*giving)
	}
	return 0
}

// protect keeps PID 1 from processes of its own user: they can neither trace
// it nor open its files, and no signal ends it. Those that tell of a fault are
// no default for the Go runtime, so they are caught and dropped.
func protect() {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	signal.Notify(make(chan os.Signal, 1))
	signal.Reset(syscall.SIGCHLD, syscall.SIGURG, syscall.SIGWINCH)
}

// holdLease reaps until the owner is gone.
func holdLease(lease time.Duration) {
	deadline := time.Now().Add(lease)
	var buf [64]byte
	for {
		reap()
		wait := time.Until(deadline)
		if wait <= 0 {
			return
		}
		// A child that ends between reap and poll interrupts nothing, hence
		// the short wait; one that ends during poll interrupts it.
		wait = min(wait, 500*time.Millisecond)
		fds := []unix.PollFd{{Fd: 0, Events: unix.POLLIN}}
		n, err := unix.Poll(fds, max(1, int(wait.Milliseconds())))
		if err != nil || n <= 0 {
			continue
		}
		got, err := unix.Read(0, buf[:])
		switch {
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN):
			continue
		case err != nil || got == 0:
			return
		}
		deadline = time.Now().Add(lease)
		// An owner that does not read must not stop the reaping.
		fds = []unix.PollFd{{Fd: 1, Events: unix.POLLOUT}}
		if n, err := unix.Poll(fds, 0); err == nil && n == 1 {
			_, _ = unix.Write(1, buf[:1])
		}
	}
}

// reap takes every child that has ended.
func reap() {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
	}
}
