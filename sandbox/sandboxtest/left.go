package sandboxtest

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/belljar/belljar/sandbox"
)

// leftTests check that processes left in the background do not hold the
// command, live on, and are told.
func leftTests() []test {
	return []test{
		{"HoldsPipes", testLeftHoldsPipes},
		{"Named", testLeftNamed},
		{"Many", testLeftMany},
		{"None", testLeftNone},
		{"Beside", testLeftBeside},
		{"LivesOn", testLeftLivesOn},
		{"Argv", testLeftArgv},
		{"EndlessWriter", testLeftEndlessWriter},
	}
}

func testLeftHoldsPipes(t *testing.T, s *suite) {
	b := s.shared(t)
	mark := newMark()
	out := b.script(t, "sleep "+mark+" & echo ok")
	wantExit(t, out, 0)
	wantOutput(t, out, "ok\n")
	if out.LeftCount < 1 || len(out.Left) < 1 {
		t.Errorf("Left = %v, counted %d, want the sleep", out.Left, out.LeftCount)
	}
	if b.find(t, mark) == "" {
		t.Error("the process that was left is gone")
	}
}

// asleep waits until the last background process has become a sleep, so that
// its name is settled.
const asleep = `until read -r name </proc/$!/comm && [ "$name" = sleep ]; do :; done; `

func testLeftNamed(t *testing.T, s *suite) {
	out := s.shared(t).script(t, "sleep "+newMark()+" & "+asleep+"echo $!; exit 3")
	wantExit(t, out, 3)
	pid, err := strconv.Atoi(strings.TrimSpace(out.stdout))
	if err != nil {
		t.Fatalf("stdout = %q, want a process id", out.stdout)
	}
	want := sandbox.Process{PID: pid, Name: "sleep"}
	if out.LeftCount != 1 || len(out.Left) != 1 || out.Left[0] != want {
		t.Errorf("Left = %v, counted %d, want [%v], counted 1", out.Left, out.LeftCount, want)
	}
	if out.KilledCount != 0 {
		t.Errorf("KilledCount = %d, want 0", out.KilledCount)
	}
}

func testLeftMany(t *testing.T, s *suite) {
	// A sandbox of its own, for the processes count against its limit.
	b := s.start(t)
	const count = sandbox.MaxProcesses + 8
	out := b.script(t, "i=0; while [ $i -lt "+strconv.Itoa(count)+" ]; do sleep "+newMark()+" & i=$((i+1)); done")
	wantExit(t, out, 0)
	if out.LeftCount != count || len(out.Left) != sandbox.MaxProcesses {
		t.Errorf("%d listed, %d counted, want %d, %d", len(out.Left), out.LeftCount, sandbox.MaxProcesses, count)
	}
}

func testLeftNone(t *testing.T, s *suite) {
	b := s.shared(t)
	b.script(t, "sleep "+newMark()+" &")
	for _, script := range []string{"true", "sh -c 'exit 1' & wait", "(true) | cat; kill -9 $$"} {
		if out := b.script(t, script); out.LeftCount != 0 {
			t.Errorf("%q: Left = %v, counted %d, want none: they belong to an earlier command", script, out.Left, out.LeftCount)
		}
	}
}

// What a command runs that has not ended is not left by another, and lives on
// when that is ended.
func testLeftBeside(t *testing.T, s *suite) {
	b := s.shared(t)
	mark := newMark()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stdout := await("READY\n")
	wait := b.background(t, ctx, sandbox.Command{Script: "sleep " + mark + " & echo READY; wait", Stdout: stdout})
	waitFor(t, "the command", stdout.seen)
	if out := b.script(t, "exit 3"); out.LeftCount != 0 {
		t.Errorf("Left = %v, counted %d, want none: they belong to another command", out.Left, out.LeftCount)
	}
	b.timeOut(t, "sleep "+newMark()+" & echo READY; wait")
	if b.find(t, mark) == "" {
		t.Error("the end of a command took another one along")
	}
	cancel()
	if result, err := wait(); err != nil || result.Status != sandbox.Canceled || result.KilledCount == 0 {
		t.Errorf("got %s, error %v, want canceled with processes killed", show(result), err)
	}
	b.wantGone(t, mark)
}

func testLeftLivesOn(t *testing.T, s *suite) {
	b := s.shared(t)
	out := b.script(t, "mkfifo go && { (read x <go; echo alive >answer.tmp; mv answer.tmp answer) & }; echo ok")
	wantExit(t, out, 0)
	wantOutput(t, out, "ok\n")
	out = b.script(t, "echo x >go; until [ -e answer ]; do :; done; cat answer")
	wantExit(t, out, 0)
	wantOutput(t, out, "alive\n")
}

func testLeftArgv(t *testing.T, s *suite) {
	b := s.shared(t)
	mark := newMark()
	out := b.run(t, sandbox.Command{Args: []string{"sh", "-c", "sleep " + mark + " & echo ok"}})
	wantExit(t, out, 0)
	wantOutput(t, out, "ok\n")
	if out.LeftCount != 1 {
		t.Errorf("LeftCount = %d, want 1", out.LeftCount)
	}
}

func testLeftEndlessWriter(t *testing.T, s *suite) {
	// A sandbox of its own, for the writer keeps a processor busy.
	b := s.start(t)
	out := b.script(t, "yes & echo ok >&2; exit 3")
	wantExit(t, out, 3)
	if out.stderr != "ok\n" {
		t.Errorf("stderr = %q, want %q", out.stderr, "ok\n")
	}
	if strings.Trim(out.stdout, "y\n") != "" {
		t.Errorf("stdout has something else than the writer's text: %q", clip(out.stdout))
	}
	wantExit(t, b.script(t, "exit 4"), 4)
}
