package docker_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/sandboxtest"
)

// TestConformanceOnce runs what ends commands where one command is expected, so
// that the first of each sandbox is begun before a second spare is there.
func TestConformanceOnce(t *testing.T) {
	engine := connect(t)
	sandboxtest.TestRuntime(t, sandboxtest.Config{
		Runtime: engine, Bash: true, Parts: []string{"Status", "End", "Left", "KillTree", "Counters"},
		Spec: func(t *testing.T) sandbox.Spec { return newOnce(t) },
	})
}

func newOnce(t testing.TB) sandbox.Spec {
	t.Helper()
	spec := newSpec(t, os.Getuid(), os.Getgid())
	spec.Once = true
	return spec
}

// TestEndAlone cancels commands that are begun while no other supervisor
// waits, once they have said that they are ready, and looks for what is left.
func TestEndAlone(t *testing.T) {
	engine := connect(t)
	// up says that it is ready once a sleep is there to be ended.
	const up = "up() { until grep -qx sleep /proc/[0-9]*/comm 2>/dev/null; do :; done; echo ready; }; "
	for _, test := range []struct {
		name, script string
		killed       string // one of the processes that must be named
	}{
		{"a child", "sleep 600 & up; wait", "sleep"},
		{"the shell alone", "echo ready; while :; do :; done", "bash"},
		{"sessions of their own", "setsid sh -c 'trap \"\" TERM; (sleep 600 &); sleep 600' & sleep 600 & up; wait", "sleep"},
		{"a shell that stopped", "setsid sleep 600 & up; kill -STOP $$", "sleep"},
		{"a shell that became another", "setsid sleep 600 & up; exec sleep 600", "sleep"},
		{"a supervisor that stopped", "sleep 600 & up; kill -STOP $PPID; wait", "sleep"},
	} {
		t.Run(test.name, func(t *testing.T) {
			sb := start(t, engine, newOnce(t))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out := awaiting("ready\n")
			ended := make(chan answer, 1) // one answer, so the sender never waits
			go func() {
				ended <- try(ctx, sb, sandbox.Command{Script: up + test.script, Stdout: out, Stderr: out})
			}()
			within(t, hang, "the command's beginning", func() { <-out.seen })
			cancel()
			var got answer
			within(t, hang, "Exec", func() { got = <-ended })
			if got.err != nil || got.result.Status != sandbox.Canceled || got.result.LeftCount != 0 {
				t.Fatalf("%s, %d left, error %v, want canceled and nothing left", describe(got.result), got.result.LeftCount, got.err)
			}
			named := false
			for _, p := range got.result.Killed {
				named = named || p.Name == test.killed
			}
			if !named || got.result.KilledCount == 0 {
				t.Errorf("killed = %v, counted %d, want %s among them", got.result.Killed, got.result.KilledCount, test.killed)
			}
			if got := script(t, sb, "grep -lx sleep /proc/[0-9]*/comm 2>/dev/null; :"); got != "" {
				t.Errorf("left in the sandbox: %q", got)
			}
		})
	}
}

// TestBlockedWriterAlone ends a command whose output nobody takes, so that its
// own supervisor's answer cannot arrive.
func TestBlockedWriterAlone(t *testing.T) {
	sb := start(t, connect(t), newOnce(t))
	release := make(chan struct{})
	defer close(release)
	got := execute(t, sb, sandbox.Command{
		Script: "yes | head -c 64m; sleep 600", Timeout: 200 * time.Millisecond,
		Stdout: blockedWriter{release},
	})
	if got.err != nil || got.result.Status != sandbox.TimedOut {
		t.Errorf("%s, error %v, want timeout", describe(got.result), got.err)
	}
	if got := script(t, sb, "grep -lxE 'sleep|yes' /proc/[0-9]*/comm 2>/dev/null; :"); got != "" {
		t.Errorf("left in the sandbox: %q", got)
	}
}

// A blockedWriter takes nothing until it is released.
type blockedWriter struct{ release <-chan struct{} }

func (w blockedWriter) Write(p []byte) (int, error) {
	<-w.release
	return len(p), nil
}

// TestSupervisorKilledAlone has a command kill what watches over it while no
// other supervisor waits.
func TestSupervisorKilledAlone(t *testing.T) {
	sb := start(t, connect(t), newOnce(t))
	got := execute(t, sb, sandbox.Command{Script: "setsid sleep 600 & kill -9 $PPID; sleep 600"})
	if got.err != nil || got.result.Status != sandbox.Signaled || !strings.Contains(got.result.Reason, "watches over it") {
		t.Errorf("%s, error %v, want signaled for that reason", describe(got.result), got.err)
	}
	if got := script(t, sb, "grep -lx sleep /proc/[0-9]*/comm 2>/dev/null; :"); got != "" {
		t.Errorf("left in the sandbox: %q", got)
	}
}

// TestOnceTakesMore runs what nobody expected: another command, several at
// once, and one with input.
func TestOnceTakesMore(t *testing.T) {
	sb := start(t, connect(t), newOnce(t))
	if got := script(t, sb, "cd /tmp; echo first"); got != "first\n" {
		t.Errorf("the first command says %q", got)
	}
	got := execute(t, sb, sandbox.Command{Script: "cat; exit 4", Stdin: strings.NewReader("input")})
	if got.err != nil || got.output != "input" || got.result.ExitCode == nil || *got.result.ExitCode != 4 {
		t.Errorf("with input: %s, %q, error %v, want its code and its input", describe(got.result), got.output, got.err)
	}
	answers := make(chan answer)
	for range 4 {
		go func() { answers <- try(context.Background(), sb, sandbox.Command{Script: "echo beside; exit 5"}) }()
	}
	within(t, hang, "four commands at once", func() {
		for range 4 {
			if got := <-answers; got.err != nil || got.output != "beside\n" || got.result.ExitCode == nil || *got.result.ExitCode != 5 {
				t.Errorf("at once: %s, %q, error %v", describe(got.result), got.output, got.err)
			}
		}
	})
}
