package supervisor

import (
	"errors"
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
		if giving.Top == nil {
			giving.Top = idsOf(string(giving.Root))
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
	catchSignals()
}

// holdLease reaps until the owner is gone.
func holdLease(lease time.Duration) {
	quiet := silence{limit: lease}
	var buf [64]byte
	for {
		reap()
		fds := []unix.PollFd{{Fd: 0, Events: unix.POLLIN}}
		before := time.Now()
		n, err := unix.Poll(fds, int(leaseStep.Milliseconds()))
		if err != nil || n <= 0 {
			if quiet.add(time.Since(before)) {
				return
			}
			continue
		}
		got, err := unix.Read(0, buf[:])
		switch {
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN):
			continue
		case err != nil || got == 0:
			return
		}
		quiet.end()
		// An owner that does not read must not stop the reaping.
		fds = []unix.PollFd{{Fd: 1, Events: unix.POLLOUT}}
		if n, err := unix.Poll(fds, 0); err == nil && n == 1 {
			_, _ = unix.Write(1, buf[:1])
		}
	}
}

// leaseStep is how long PID 1 waits at a time. A child that ends between reap
// and poll interrupts nothing, so it is taken after a step; one that ends
// during poll interrupts it.
const leaseStep = 500 * time.Millisecond

// A silence counts how long the owner has not been heard. It is the sum of
// steps, each of them short: a container that was paused, or a machine that
// slept while this clock went on, wakes up to an owner that had no time to
// write, and gives it as much as is left.
type silence struct{ limit, sum time.Duration }

// add counts one step in which nothing was heard and tells whether it was the
// last.
func (s *silence) add(step time.Duration) (over bool) {
	s.sum += min(max(step, 0), 2*leaseStep)
	return s.sum >= s.limit
}

// end says that the owner was heard.
func (s *silence) end() { s.sum = 0 }

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
