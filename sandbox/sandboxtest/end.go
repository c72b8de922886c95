package sandboxtest

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// endTests check that a command that is ended from outside is gone, with what
// it had written.
func endTests() []test {
	return []test{
		{"Timeout", func(t *testing.T, s *suite) { testVictims(t, s, simpleVictims()) }},
		{"TimeoutNotReached", testTimeoutNotReached},
		{"Cancel", testCancel},
		{"CanceledBefore", testCanceledBefore},
		{"CancelWithStdin", testCancelWithStdin},
		{"OthersLive", testOthersLive},
	}
}

// killTreeTests check that children in sessions of their own end too.
func killTreeTests() []test {
	return []test{{"Timeout", func(t *testing.T, s *suite) { testVictims(t, s, treeVictims()) }}}
}

// A victim prints READY when there is something to kill; MARK is replaced by
// a number that its processes are found by.
type victim struct{ name, script string }

func simpleVictims() []victim {
	return []victim{
		{"sleep", "echo READY; sleep MARK"},
		{"pipeline", "echo READY; sleep MARK | cat"},
		{"spinning shell", "echo READY; while :; do :; done"},
		{"signals ignored", "trap '' TERM INT HUP QUIT; echo READY; sleep MARK; sleep MARK; sleep MARK"},
		{"TERM trap that goes on", "trap 'echo no' TERM; echo READY; while :; do sleep MARK; done"},
		{"background and wait", "sleep MARK & sleep MARK & echo READY; wait"},
		{"stopped shell", "sleep MARK & echo READY; kill -STOP $$"},
		{"stopped child", "sh -c 'kill -STOP $$; exit' MARK & echo READY; wait"},
		{"streams closed", "echo READY; exec >&- 2>&- <&-; sleep MARK"},
		{"nohup", "nohup sleep MARK >/dev/null 2>&1 & echo READY; wait"},
		{"nested shells", "sh -c \"sh -c 'sh -c \\\"echo READY; sleep MARK; :\\\"; :'; :\"; :"},
		{"exec", "echo READY; exec sleep MARK"},
	}
}

func treeVictims() []victim {
	return []victim{
		{"setsid", `setsid sh -c 'trap "" TERM; echo READY; sleep MARK' & wait`},
		{"setsid, streams elsewhere", `setsid sleep MARK </dev/null >/dev/null 2>&1 & echo READY; wait`},
		{"double fork", `(setsid sh -c 'sleep MARK & sleep MARK & echo READY' &); sleep MARK`},
		{"double fork, parents gone", `sh -c '(setsid sh -c "(sleep MARK &) ; exec sleep MARK" &)'; echo READY; wait; sleep MARK`},
		{"environment dropped", `env -i PATH="$PATH" setsid sh -c 'sleep MARK & sleep MARK' & echo READY; wait`},
		{"environment dropped, double fork", `(env -i PATH="$PATH" setsid sh -c '(sleep MARK &)' &); echo READY; sleep MARK`},
		{"nohup in a new session", `setsid nohup sleep MARK >/dev/null 2>&1 & echo READY; wait`},
		{"stopped in a new session", `setsid sh -c 'kill -STOP $$; exit' MARK & echo READY; wait`},
		{"sessions in sessions", `setsid sh -c 'setsid sh -c "setsid sleep MARK & sleep MARK" & sleep MARK' & echo READY; wait`},
		{"shell replaced", `setsid sleep MARK & echo READY; exec sleep MARK`},
		{"shell stopped", `setsid sleep MARK & echo READY; kill -STOP $$`},
	}
}

func testVictims(t *testing.T, s *suite, victims []victim) {
	b := s.shared(t)
	for _, v := range victims {
		t.Run(v.name, func(t *testing.T) {
			mark := newMark()
			out := b.timeOut(t, strings.ReplaceAll(v.script, "MARK", mark))
			if out.stderr != "" {
				t.Errorf("stderr = %q, want nothing", out.stderr)
			}
			if out.KilledCount == 0 || len(out.Killed) == 0 {
				t.Errorf("Killed = %v, counted %d, want at least one", out.Killed, out.KilledCount)
			}
			if out.LeftCount != 0 {
				t.Errorf("LeftCount = %d, want 0: %v", out.LeftCount, out.Left)
			}
			b.wantGone(t, mark)
		})
	}
}

// timeOut runs a script that prints READY and does not end by itself until
// its time is over. On a busy machine a short time may be over before the
// script has come to its point; then it gets more.
func (b *box) timeOut(t *testing.T, script string) outcome {
	t.Helper()
	for timeout := time.Second / 4; timeout <= 32*time.Second; timeout *= 2 {
		out := b.run(t, sandbox.Command{Script: script, Timeout: timeout})
		wantStatus(t, out, sandbox.TimedOut)
		if out.Status != sandbox.TimedOut || out.stdout == "READY\n" {
			return out
		}
	}
	t.Fatalf("what the script printed before its end did not arrive: %q", script)
	return outcome{}
}

func testTimeoutNotReached(t *testing.T, s *suite) {
	out := s.shared(t).run(t, sandbox.Command{Script: "echo a; exit 3", Timeout: hang})
	wantExit(t, out, 3)
	wantOutput(t, out, "a\n")
}

func testCancel(t *testing.T, s *suite) {
	b := s.shared(t)
	mark := newMark()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stdout := await("READY\n")
	wait := b.background(t, ctx, sandbox.Command{
		Script: "sleep " + mark + " & echo READY; wait", Stdout: stdout,
	})
	waitFor(t, "the command", stdout.seen)
	cancel()
	result, err := wait()
	if err != nil || result.Status != sandbox.Canceled {
		t.Fatalf("got %s, error %v, want canceled", show(result), err)
	}
	if result.ExitCode != nil || result.KilledCount == 0 {
		t.Errorf("ExitCode = %v, KilledCount = %d, want nil and more than 0", result.ExitCode, result.KilledCount)
	}
	if stdout.String() != "READY\n" {
		t.Errorf("stdout = %q, want %q", stdout.String(), "READY\n")
	}
	b.wantGone(t, mark)
}

func testCanceledBefore(t *testing.T, s *suite) {
	b := s.shared(t)
	mark := newMark()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	within(t, "Exec with a context that is done", func() {
		result, err := b.Exec(ctx, sandbox.Command{Script: "sleep " + mark})
		if err != nil || result.Status != sandbox.Canceled {
			t.Errorf("got %s, error %v, want canceled", show(result), err)
		}
	})
	b.wantGone(t, mark)
}

func testCancelWithStdin(t *testing.T, s *suite) {
	b := s.shared(t)
	reader, writer := io.Pipe()
	defer writer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stdout := await("READY\n")
	wait := b.background(t, ctx, sandbox.Command{Script: "echo READY; cat", Stdin: reader, Stdout: stdout})
	waitFor(t, "the command", stdout.seen)
	cancel()
	if result, err := wait(); err != nil || result.Status != sandbox.Canceled {
		t.Errorf("got %s, error %v, want canceled", show(result), err)
	}
}

func testOthersLive(t *testing.T, s *suite) {
	b := s.shared(t)
	reader, writer := io.Pipe()
	defer writer.Close()
	stdout := await("READY\n")
	wait := b.background(t, t.Context(), sandbox.Command{
		Script: "sleep 600 & child=$!; echo READY; read x; kill $child && echo lives; exit 5",
		Stdin:  reader, Stdout: stdout,
	})
	waitFor(t, "the command that must live", stdout.seen)
	for _, script := range []string{"echo READY; sleep 600", "sleep 600 & echo READY; wait"} {
		b.timeOut(t, script)
	}
	io.WriteString(writer, "go\n")
	result, err := wait()
	if err != nil || result.Status != sandbox.Exited || *result.ExitCode != 5 {
		t.Fatalf("got %s, error %v, want exited 5", show(result), err)
	}
	if stdout.String() != "READY\nlives\n" {
		t.Errorf("stdout = %q, want %q", stdout.String(), "READY\nlives\n")
	}
}
