//go:build linux

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// startReady starts a command and returns once it has written its first line,
// with the container that it runs in.
func (p *program) startReady(t *testing.T, cmd *exec.Cmd) (id string) {
	t.Helper()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // a second one is an error, as is the end by a signal
	})
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the command wrote %q, error %v", line, err)
	}
	list := p.containersOf(t, cmd.Process.Pid)
	if len(list) != 1 {
		t.Fatalf("%d containers belong to the process, want 1", len(list))
	}
	return list[0].ID
}

// testProgramKilledWithProxy kills belljar while a command has a way out: the
// way goes as well.
func testProgramKilledWithProxy(t *testing.T, p *program) {
	cmd := p.command(t, "", "exec", "--network", "allow", "-c", "echo ready; sleep 300")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // a second one is an error, as is the end by a signal
	})
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the command wrote %q, error %v", line, err)
	}
	list := p.containersOf(t, cmd.Process.Pid)
	if len(list) != 2 {
		t.Fatalf("%d containers belong to the process, want the sandbox and the forwarder", len(list))
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		p.wantGone(t, c.ID, 30*time.Second)
	}
}

// testProgramKilled kills belljar itself, which then can clean up nothing.
// Nobody starts another one: the container ends because its owner is gone, and
// long before the minute of silence that would end it too.
func testProgramKilled(t *testing.T, p *program) {
	for name, script := range map[string]string{
		"waiting": "echo ready; sleep 300",
		"writing": "echo ready; yes",
		"hiding":  `echo ready; setsid sh -c 'trap "" HUP INT TERM; sleep 300' & setsid sleep 300 & trap "" HUP INT TERM; sleep 300`,
	} {
		t.Run(name, func(t *testing.T) {
			cmd := p.command(t, "", "exec", "-c", script)
			id := p.startReady(t, cmd)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			p.wantGone(t, id, 30*time.Second)
		})
	}
}

// testProgramKilledDev is the same for commands that are root: what they made
// in the workspace belongs to its owner when the container is gone.
func testProgramKilledDev(t *testing.T, p *program) {
	dir := t.TempDir()
	cmd := p.command(t, dir, "exec", "--profile", "dev", "-c", "mkdir d; touch d/f; chown -R daemon d; echo ready; sleep 300")
	id := p.startReady(t, cmd)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wantGone(t, id, 30*time.Second)
	for _, name := range []string{"d", "d/f"} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if uid := int(info.Sys().(*syscall.Stat_t).Uid); uid != os.Getuid() {
			t.Errorf("%s belongs to %d, want %d", name, uid, os.Getuid())
		}
	}
}

// testProgramStopped stops belljar, which then says nothing more although its
// end of the lease stays open: the container ends after a minute of silence.
func testProgramStopped(t *testing.T, p *program) {
	cmd := p.command(t, "", "exec", "-c", "echo ready; sleep 300")
	id := p.startReady(t, cmd)
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.wantGone(t, id, hang)
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // a code that is not 0 is an error; it is looked at below
	if code := cmd.ProcessState.ExitCode(); code != exitFailure {
		t.Errorf("exit code %d, want %d", code, exitFailure)
	}
}

// testProgramInterrupted sends the signals that end belljar in order.
func testProgramInterrupted(t *testing.T, p *program) {
	for _, test := range []struct {
		name    string
		signals []syscall.Signal
		code    int
	}{
		{"INT", []syscall.Signal{syscall.SIGINT}, exitInterrupted},
		{"TERM", []syscall.Signal{syscall.SIGTERM}, exitTerminated},
		{"HUP", []syscall.Signal{syscall.SIGHUP}, exitTerminated},
		{"INT twice", []syscall.Signal{syscall.SIGINT, syscall.SIGINT}, exitInterrupted},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := p.command(t, "", "exec", "-c", "echo ready; sleep 300")
			id := p.startReady(t, cmd)
			for _, sig := range test.signals {
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
			}
			_ = cmd.Wait() // a code that is not 0 is an error; it is looked at below
			if code := cmd.ProcessState.ExitCode(); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			p.wantGone(t, id, 30*time.Second)
		})
	}
}
