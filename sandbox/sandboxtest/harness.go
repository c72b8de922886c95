package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
)

// hang is the time after which something that should have ended at once is
// called a hang. It says nothing about how fast things should be.
const hang = 2 * time.Minute

// suite is what the tests of one part share.
type suite struct {
	cfg   Config
	group *testing.T // the part's own test, which outlives its subtests
	box   *box       // started at first use
}

// box is a started sandbox with what the tests want to know about it.
type box struct {
	sandbox.Sandbox
	spec  sandbox.Spec
	mount string
}

// shared returns the sandbox of the part, for tests that leave it usable.
func (s *suite) shared(t *testing.T) *box {
	t.Helper()
	if s.box == nil {
		s.box = s.start(s.group)
	}
	if s.box == nil {
		t.Fatal("the part's sandbox did not start")
	}
	return s.box
}

// start starts a sandbox that is closed when t ends.
func (s *suite) start(t *testing.T, edits ...func(*sandbox.Spec)) *box {
	t.Helper()
	spec := s.cfg.Spec(t)
	for _, edit := range edits {
		edit(&spec)
	}
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	sb, err := s.cfg.Runtime.Start(ctx, spec)
	if err != nil {
		t.Fatalf("starting a sandbox: %v", err)
	}
	t.Cleanup(func() {
		within(t, "Close", func() {
			if err := sb.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	})
	mount := sb.Info().MountPoint
	if !path.IsAbs(mount) {
		t.Fatalf("Info().MountPoint = %q, want an absolute path", mount)
	}
	return &box{Sandbox: sb, spec: spec, mount: mount}
}

// within fails the test with every goroutine's stack when f hangs.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	limit := time.NewTimer(hang + 30*time.Second)
	defer limit.Stop()
	select {
	case <-done:
	case <-limit.C:
		stacks := make([]byte, 1<<20)
		t.Fatalf("%s hangs:\n\n%s", what, stacks[:runtime.Stack(stacks, true)])
	}
}

// outcome is what one command gave.
type outcome struct {
	sandbox.Result
	stdout, stderr string
}

// buffer collects output and tells when a text has come. It is safe for
// concurrent use, so that one value may serve both streams of a command.
type buffer struct {
	mu   sync.Mutex
	data bytes.Buffer
	want string
	seen chan struct{} // closed when want has come; nil when nobody waits
}

// await returns a buffer whose seen channel is closed once text has come.
func await(text string) *buffer {
	return &buffer{want: text, seen: make(chan struct{})}
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data.Write(p)
	if b.want != "" && bytes.Contains(b.data.Bytes(), []byte(b.want)) {
		b.want = ""
		close(b.seen)
	}
	return len(p), nil
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.data.String()
}

// try runs a command to its end. Output is collected unless the command has
// writers of its own.
func (b *box) try(t *testing.T, cmd sandbox.Command) (outcome, error) {
	t.Helper()
	return b.tryContext(t, context.Background(), cmd)
}

func (b *box) tryContext(t *testing.T, ctx context.Context, cmd sandbox.Command) (outcome, error) {
	t.Helper()
	var stdout, stderr buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &stdout
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	}
	errHang := errors.New("the command did not end")
	ctx, cancel := context.WithTimeoutCause(ctx, hang, errHang)
	defer cancel()
	var (
		result sandbox.Result
		err    error
	)
	within(t, "Exec", func() { result, err = b.Exec(ctx, cmd) })
	if errors.Is(context.Cause(ctx), errHang) {
		t.Fatalf("the command did not end within %v: %s", hang, describe(cmd))
	}
	out := outcome{Result: result, stdout: stdout.String(), stderr: stderr.String()}
	if err == nil {
		checkResult(t, cmd, result)
	}
	return out, err
}

// run is try for commands that must give a Result.
func (b *box) run(t *testing.T, cmd sandbox.Command) outcome {
	t.Helper()
	out, err := b.try(t, cmd)
	if err != nil {
		t.Fatalf("Exec of %s: %v", describe(cmd), err)
	}
	return out
}

// script is run for a script alone.
func (b *box) script(t *testing.T, text string) outcome {
	t.Helper()
	return b.run(t, sandbox.Command{Script: text})
}

// background starts a command; the returned func waits for its end.
func (b *box) background(t *testing.T, ctx context.Context, cmd sandbox.Command) func() (sandbox.Result, error) {
	t.Helper()
	type answer struct {
		result sandbox.Result
		err    error
	}
	ctx, cancel := context.WithCancel(ctx)
	answers := make(chan answer, 1) // one answer; the sender never waits
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		result, err := b.Exec(ctx, cmd)
		answers <- answer{result, err}
	}()
	t.Cleanup(func() {
		cancel()
		within(t, "canceled Exec", func() { <-ended })
	})
	return func() (sandbox.Result, error) {
		t.Helper()
		var got answer
		within(t, "Exec", func() { got = <-answers })
		return got.result, got.err
	}
}

// waitFor waits for a channel to be closed.
func waitFor(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	within(t, "waiting for "+what, func() { <-done })
}

// describe shortens a command for a message.
func describe(cmd sandbox.Command) string {
	text := cmd.Script
	if len(cmd.Args) > 0 {
		text = strings.Join(cmd.Args, " ")
	}
	if len(text) > 200 {
		text = text[:200] + "..."
	}
	return strconv.Quote(text)
}

// wantExit checks that a command ended by itself with a code.
func wantExit(t *testing.T, out outcome, code int) {
	t.Helper()
	if out.Status != sandbox.Exited || out.ExitCode == nil || *out.ExitCode != code {
		t.Errorf("got %s, want exited %d; stdout %q, stderr %q",
			show(out.Result), code, clip(out.stdout), clip(out.stderr))
	}
}

// wantStatus checks the status alone.
func wantStatus(t *testing.T, out outcome, statuses ...sandbox.Status) {
	t.Helper()
	for _, status := range statuses {
		if out.Status == status {
			return
		}
	}
	t.Errorf("got %s, want one of %v; stdout %q, stderr %q",
		show(out.Result), statuses, clip(out.stdout), clip(out.stderr))
}

// wantOutput checks standard output.
func wantOutput(t *testing.T, out outcome, stdout string) {
	t.Helper()
	if out.stdout != stdout {
		t.Errorf("stdout = %q, want %q; stderr %q", clip(out.stdout), clip(stdout), clip(out.stderr))
	}
}

// show renders how a command ended.
func show(r sandbox.Result) string {
	text := string(r.Status)
	if r.ExitCode != nil {
		text += " " + strconv.Itoa(*r.ExitCode)
	}
	if r.Signal != "" {
		text += " " + r.Signal
	}
	if r.Reason != "" {
		text += " (" + r.Reason + ")"
	}
	return text
}

// clip bounds a text for a message.
func clip(s string) string {
	if len(s) <= 400 {
		return s
	}
	return s[:200] + "[...]" + s[len(s)-200:]
}

// checkResult checks what holds for every result.
func checkResult(t *testing.T, cmd sandbox.Command, r sandbox.Result) {
	t.Helper()
	switch r.Status {
	case sandbox.Exited:
		if r.ExitCode == nil || *r.ExitCode < 0 || *r.ExitCode > 255 {
			t.Errorf("%s: exited without an exit code of 0 to 255", describe(cmd))
		}
		if r.Signal != "" {
			t.Errorf("%s: exited with signal %s", describe(cmd), r.Signal)
		}
		if cmd.Script != "" && !path.IsAbs(r.Dir) {
			t.Errorf("%s: Dir = %q, want an absolute path", describe(cmd), r.Dir)
		}
	case sandbox.Signaled:
		if r.ExitCode != nil || !strings.HasPrefix(r.Signal, "SIG") {
			t.Errorf("%s: signaled with exit code %v and signal %q", describe(cmd), r.ExitCode, r.Signal)
		}
	case sandbox.Canceled, sandbox.TimedOut, sandbox.OutputLimit, sandbox.DiskLimit:
		if r.ExitCode != nil {
			t.Errorf("%s: %s with exit code %d", describe(cmd), r.Status, *r.ExitCode)
		}
	case sandbox.OutOfMemory, sandbox.PidsLimit:
		if r.ExitCode != nil && *r.ExitCode == 0 && r.Status == sandbox.OutOfMemory {
			t.Errorf("%s: out of memory although it exited 0", describe(cmd))
		}
	default:
		t.Errorf("%s: unknown status %q", describe(cmd), r.Status)
	}
	for name, list := range map[string]struct {
		processes []sandbox.Process
		count     int
	}{"Left": {r.Left, r.LeftCount}, "Killed": {r.Killed, r.KilledCount}} {
		if len(list.processes) > sandbox.MaxProcesses || list.count < len(list.processes) {
			t.Errorf("%s: %d processes in %s, counted %d", describe(cmd), len(list.processes), name, list.count)
		}
	}
	if r.Duration < 0 || r.OOMKills < 0 || r.ForkFailures < 0 {
		t.Errorf("%s: a negative count in %+v", describe(cmd), r)
	}
}

// newMark returns a number that is unique enough to find a process by, when it
// is the duration that a sleep is given.
func newMark() string { return strconv.Itoa(100_000_000 + rand.IntN(900_000_000)) }

// find lists the processes in the sandbox that have the mark among their
// arguments.
func (b *box) find(t *testing.T, mark string) string {
	t.Helper()
	out := b.run(t, sandbox.Command{
		// The brackets keep grep from finding itself, and the environment
		// keeps the mark out of the shell's own arguments.
		Script: `grep -l -e "$PATTERN" /proc/[0-9]*/cmdline 2>/dev/null; :`,
		Env:    []string{"PATTERN=[" + mark[:1] + "]" + mark[1:]},
	})
	wantExit(t, out, 0)
	return out.stdout
}

// wantGone checks that no process with the mark is left.
func (b *box) wantGone(t *testing.T, mark string) {
	t.Helper()
	if found := b.find(t, mark); found != "" {
		t.Errorf("processes of the ended command are left: %s", strings.Fields(found))
	}
}

var _ io.Writer = (*buffer)(nil)
