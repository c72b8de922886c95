//go:build soak

package docker_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// A mixed command is one of the ways in which a command comes, with the answer
// that is known beforehand.
type mixed struct {
	name string
	cmd  sandbox.Command
	// cancel gives the command up once it has written "ready".
	cancel bool
	want   sandbox.Status
	code   int
	signal string
	stdout string // "" where it depends on the moment of the end
	stderr string
	dir    string // "" is the mount point
	left   bool   // a process outlives it
}

// mix is the nth command of a run.
func mix(n int) mixed {
	long := strings.Repeat(fmt.Sprintf("%07d\n", n), 64<<10)
	kinds := []func() mixed{
		func() mixed {
			return mixed{name: "quick", cmd: sandbox.Command{Script: fmt.Sprintf("echo %d; exit %d", n, n%256)},
				code: n % 256, stdout: fmt.Sprintln(n)}
		},
		func() mixed {
			return mixed{name: "two streams", cmd: sandbox.Command{Script: fmt.Sprintf("echo %d; ls /none-%d", n, n)},
				code: 2, stdout: fmt.Sprintln(n), stderr: fmt.Sprintf("ls: cannot access '/none-%d': No such file or directory\n", n)}
		},
		func() mixed {
			return mixed{name: "output", cmd: sandbox.Command{Script: fmt.Sprintf("yes %07d | head -n 65536", n)}, stdout: long}
		},
		func() mixed {
			return mixed{name: "stdin", cmd: sandbox.Command{Script: "cat", Stdin: strings.NewReader(long)}, stdout: long}
		},
		func() mixed {
			return mixed{name: "argv", cmd: sandbox.Command{Args: []string{"printf", "%s.", "a b", fmt.Sprint(n)}}, stdout: fmt.Sprintf("a b.%d.", n)}
		},
		func() mixed {
			return mixed{name: "directory", cmd: sandbox.Command{Script: "cd /usr/bin"}, dir: "/usr/bin"}
		},
		func() mixed {
			return mixed{name: "signal", cmd: sandbox.Command{Script: "kill -9 $$"}, want: sandbox.Signaled, signal: "SIGKILL"}
		},
		func() mixed {
			return mixed{name: "background", cmd: sandbox.Command{Script: "sleep 2 & (setsid sleep 1 &); echo begun"}, stdout: "begun\n", left: true}
		},
		func() mixed {
			return mixed{name: "orphans", cmd: sandbox.Command{Script: "for i in 1 2 3; do (true & true & ); done; echo done"}, stdout: "done\n"}
		},
		func() mixed {
			return mixed{name: "timeout", cmd: sandbox.Command{Script: "setsid sleep 600 & sleep 600", Timeout: 50 * time.Millisecond}, want: sandbox.TimedOut}
		},
		func() mixed {
			return mixed{name: "cancel", cmd: sandbox.Command{Script: "setsid sleep 600 & echo ready; sleep 600"}, cancel: true, want: sandbox.Canceled}
		},
		func() mixed {
			return mixed{name: "output limit", cmd: sandbox.Command{Script: "yes", OutputLimit: 100_000}, want: sandbox.OutputLimit}
		},
	}
	// Of every twenty commands twelve are one of each kind, and eight quick.
	kind := n % 20
	if kind >= len(kinds) {
		kind = 0
	}
	m := kinds[kind]()
	if m.want == "" {
		m.want = sandbox.Exited
	}
	return m
}

// run runs the command and says what is wrong with its result, "" for nothing.
func (m mixed) run(ctx context.Context, sb sandbox.Sandbox) (wrong string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stdout, stderr := awaiting("ready\n"), &output{}
	m.cmd.Stdout, m.cmd.Stderr = stdout, stderr
	if m.cancel {
		watched := make(chan struct{})
		ended, end := context.WithCancel(context.Background())
		defer func() { end(); <-watched }()
		go func() {
			defer close(watched)
			select {
			case <-stdout.seen:
				cancel()
			case <-ended.Done():
			}
		}()
	}
	result, err := sb.Exec(ctx, m.cmd)
	var said bytes.Buffer
	say := func(format string, args ...any) { fmt.Fprintf(&said, format+"; ", args...) }
	if err != nil {
		return m.name + ": " + err.Error()
	}
	if result.Status != m.want || result.Signal != m.signal || m.want == sandbox.Exited && *result.ExitCode != m.code {
		say("it ended %s, want %s %d %s", describe(result), m.want, m.code, m.signal)
	}
	if dir := m.dir; result.Dir != dir && (dir != "" || result.Dir != sandbox.MountPoint) {
		say("it ended in %s, want %s", result.Dir, dir)
	}
	if m.left && result.LeftCount == 0 {
		say("no process was left")
	}
	if m.want.Ended() {
		if m.want != sandbox.OutputLimit && result.KilledCount == 0 {
			say("nothing was killed")
		}
		if n := int64(len(stdout.String())); m.want == sandbox.OutputLimit && n != m.cmd.OutputLimit {
			say("%d bytes came, want %d", n, m.cmd.OutputLimit)
		}
	} else if stdout.String() != m.stdout || stderr.String() != m.stderr {
		say("it wrote %d bytes %.40q and %.80q, want %d bytes %.40q and %.80q", len(stdout.String()), stdout.String(), stderr.String(), len(m.stdout), m.stdout, m.stderr)
	}
	if said.Len() == 0 {
		return ""
	}
	return m.name + ": " + said.String()
}

// TestSoakMix holds the mix to one of each kind in a round.
func TestSoakMix(t *testing.T) {
	names := map[string]int{}
	for n := range 20 {
		names[mix(n).name]++
	}
	if len(names) != 12 || names["quick"] != 9 {
		t.Errorf("a round has %v", names)
	}
}
