package docker_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/docker"
)

// hang is the time after which something that should have ended is called a
// hang. It says nothing about how fast things should be.
const hang = 2 * time.Minute

// eventually waits until a condition holds that only asking can tell.
func eventually(t testing.TB, bound time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(bound); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("not within %v: %s", bound, what)
			return
		}
	}
}

// within returns once f has. When it hangs it ends the test, with the stacks of
// what goes on in the package under test.
func within(t testing.TB, bound time.Duration, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(bound):
		stacks := make([]byte, 1<<20)
		var under []string
		for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			if strings.Contains(stack, "/sandbox/docker.(") {
				under = append(under, stack)
			}
		}
		t.Fatalf("%s has not ended after %v:\n\n%s", what, bound, strings.Join(under, "\n\n"))
	}
}

// newSession names a session that no other test has.
func newSession() string { return "test-" + strings.ToLower(rand.Text()) }

// start starts a sandbox that is closed at the end of the test.
func start(t testing.TB, engine *docker.Engine, spec sandbox.Spec) sandbox.Sandbox {
	t.Helper()
	sb, err := engine.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		within(t, hang, "Close", func() {
			if err := sb.Close(); err != nil {
				t.Errorf("closing a sandbox: %v", err)
			}
		})
	})
	return sb
}

// An output gathers what a command writes. One value may serve both streams.
type output struct {
	mu   sync.Mutex
	data bytes.Buffer
	want string
	seen chan struct{} // closed when want has come
}

// awaiting returns an output whose seen is closed when a text has come.
func awaiting(text string) *output { return &output{want: text, seen: make(chan struct{})} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.data.Write(p)
	if o.want != "" && strings.Contains(o.data.String(), o.want) {
		o.want = ""
		close(o.seen)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.data.String()
}

// An answer is what an Exec gave.
type answer struct {
	result sandbox.Result
	err    error
	output string // both streams, in order
}

// try runs a command. It may be called from any goroutine.
func try(ctx context.Context, sb sandbox.Sandbox, cmd sandbox.Command) answer {
	out := &output{}
	if cmd.Stdout == nil {
		cmd.Stdout, cmd.Stderr = out, out
	}
	result, err := sb.Exec(ctx, cmd)
	return answer{result, err, out.String()}
}

// execute runs a command that must not hang.
func execute(t testing.TB, sb sandbox.Sandbox, cmd sandbox.Command) (got answer) {
	t.Helper()
	within(t, hang, "Exec", func() { got = try(t.Context(), sb, cmd) })
	return got
}

// script runs a script that must exit 0, and returns its output.
func script(t testing.TB, sb sandbox.Sandbox, text string) string {
	t.Helper()
	got := execute(t, sb, sandbox.Command{Script: text})
	if got.err != nil {
		t.Fatalf("%q: %v", text, got.err)
	}
	if got.result.Status != sandbox.Exited || *got.result.ExitCode != 0 {
		t.Fatalf("%q: %s, want exit code 0; output:\n%s", text, describe(got.result), got.output)
	}
	return got.output
}

// background starts a command and returns once it has written "ready". The
// function that it returns waits for the end. Output after that is collected.
func background(t testing.TB, sb sandbox.Sandbox, cmd sandbox.Command) (wait func() answer) {
	t.Helper()
	out := awaiting("ready\n")
	cmd.Stdout, cmd.Stderr = out, out
	ended := make(chan answer, 1) // one answer, so the sender never waits
	go func() {
		result, err := sb.Exec(context.WithoutCancel(t.Context()), cmd)
		ended <- answer{result, err, out.String()}
	}()
	within(t, hang, "the start of a command", func() {
		select {
		case <-out.seen:
		case got := <-ended:
			ended <- got
		}
	})
	return func() (got answer) {
		t.Helper()
		within(t, hang, "Exec", func() { got = <-ended })
		return got
	}
}

// describe says how a command ended.
func describe(r sandbox.Result) string {
	text := string(r.Status)
	if r.ExitCode != nil {
		text += " " + strconv.Itoa(*r.ExitCode)
	}
	return text + " " + r.Signal + " " + r.Reason
}

// wantLost checks that an Exec failed because the sandbox was lost, and that
// the error says in one line what happened.
func wantLost(t testing.TB, got answer, words ...string) {
	t.Helper()
	if got.err == nil {
		t.Fatalf("got a result (%s), want an error; output %q", describe(got.result), got.output)
	}
	if !errors.Is(got.err, sandbox.ErrLost) {
		t.Errorf("%q does not wrap ErrLost", got.err)
	}
	text := got.err.Error()
	if strings.Contains(text, "\n") {
		t.Errorf("%q is more than one line", text)
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%q does not say %q", text, word)
		}
	}
}
