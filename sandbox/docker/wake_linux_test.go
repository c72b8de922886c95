package docker

import (
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/belljar/belljar/internal/supervisor"
)

// No process is taken for one of a container that is not in its control group.
func TestMembersOfNoContainer(t *testing.T) {
	const none = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	if list := members(none); len(list) != 0 {
		t.Errorf("%d processes", len(list))
	}
	if continueStuck(none) || mayContinue(none) || continueSupervisors(none, nil) {
		t.Error("something was continued")
	}
}

// pretend makes a member of a container of a process of the test, that has a
// number inside, and a parent.
func pretend(t *testing.T, inside, parent int, stopped bool) member {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	fd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
	if err != nil {
		t.Skipf("this kernel holds no processes: %v", err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	m := member{fd: fd, pid: cmd.Process.Pid, parent: parent, inside: supervisor.Proc{PID: inside, Start: uint64(inside)}, state: 'S'}
	if stopped {
		if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		waitStopped(t, cmd.Process.Pid)
		m.state = 'T'
	}
	return m
}

// waitStopped returns when a child of the test has been stopped.
func waitStopped(t *testing.T, pid int) {
	t.Helper()
	var status syscall.WaitStatus
	for {
		got, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil || got != pid || !status.Stopped():
			t.Fatalf("waiting for a stop: %v, %#x", err, status)
		default:
			return
		}
	}
}

// changed tells whether a child of the test was stopped or continued since.
func changed(t *testing.T, pid int) (stopped, continued bool) {
	t.Helper()
	var status syscall.WaitStatus
	got, err := syscall.Wait4(pid, &status, syscall.WUNTRACED|unix.WCONTINUED|syscall.WNOHANG, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got == pid && status.Stopped(), got == pid && status.Continued()
}

func TestHoldOnce(t *testing.T) {
	const outside = 1
	first := pretend(t, 1, outside, false)
	spare := pretend(t, 10, outside, true)
	awake := pretend(t, 11, outside, false)
	victim := pretend(t, 12, outside, false)
	shell := pretend(t, 13, victim.pid, false)
	orphan := pretend(t, 14, first.pid, false)
	again := pretend(t, 15, outside, true) // with the number of a victim that is gone
	list := []member{first, spare, awake, victim, shell, orphan, again}
	count, may := holdOnce(list, []supervisor.Proc{{PID: 12, Start: 12}, {PID: 15, Start: 1}})
	if count != 3 || !may {
		t.Errorf("%d processes were stopped, all may be: %v", count, may)
	}
	for _, m := range []member{victim, shell, orphan} {
		waitStopped(t, m.pid)
	}
	for _, m := range []member{spare, again} {
		if _, continued := changed(t, m.pid); !continued {
			t.Errorf("process %d was not continued", m.inside.PID)
		}
	}
	for _, m := range []member{first, awake} {
		if stopped, continued := changed(t, m.pid); stopped || continued {
			t.Errorf("process %d got a signal", m.inside.PID)
		}
	}
	for i := range list {
		list[i].state = 'S'
		if slices.Contains([]int{12, 13, 14}, list[i].inside.PID) {
			list[i].state = 'T'
		}
	}
	continueEach(list)
	for _, m := range []member{victim, shell, orphan} {
		if _, continued := changed(t, m.pid); !continued {
			t.Errorf("process %d was not continued", m.inside.PID)
		}
	}
}
