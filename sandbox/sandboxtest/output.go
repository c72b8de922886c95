package sandboxtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/belljar/belljar/sandbox"
)

// outputTests check that every byte arrives, apart, as it comes, and none
// beyond a limit.
func outputTests() []test {
	return []test{
		{"Apart", testApart},
		{"Binary", testBinary},
		{"Discarded", testDiscarded},
		{"Streamed", testStreamed},
		{"EndNeverLost", testEndNeverLost},
		{"Limit", testOutputLimit},
		{"LimitExact", testOutputLimitExact},
		{"WriterFails", testWriterFails},
	}
}

func testApart(t *testing.T, s *suite) {
	out := s.shared(t).script(t, "echo out; echo err >&2; printf o; printf e >&2")
	wantExit(t, out, 0)
	wantOutput(t, out, "out\no")
	if out.stderr != "err\ne" {
		t.Errorf("stderr = %q, want %q", out.stderr, "err\ne")
	}
}

func testBinary(t *testing.T, s *suite) {
	var format, want strings.Builder
	for c := range 256 {
		fmt.Fprintf(&format, "\\%03o", c)
		want.WriteByte(byte(c))
	}
	out := s.shared(t).script(t, "printf '"+format.String()+"'; printf '"+format.String()+"' >&2")
	wantExit(t, out, 0)
	wantOutput(t, out, want.String())
	if out.stderr != want.String() {
		t.Errorf("stderr = %q, want every byte value", out.stderr)
	}
}

func testDiscarded(t *testing.T, s *suite) {
	// Far more than a pipe holds: discarded output must still be read.
	out := s.shared(t).run(t, sandbox.Command{
		Script: "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; exit 3",
		Stdout: io.Discard, Stderr: io.Discard,
	})
	wantExit(t, out, 3)
	var stderr buffer
	within(t, "Exec", func() {
		result, err := s.box.Exec(t.Context(), sandbox.Command{Script: "echo lost; echo kept >&2", Stderr: &stderr})
		if err != nil || result.Status != sandbox.Exited {
			t.Errorf("got %s, error %v", show(result), err)
		}
	})
	if stderr.String() != "kept\n" {
		t.Errorf("stderr beside a nil Stdout = %q, want %q", stderr.String(), "kept\n")
	}
}

func testStreamed(t *testing.T, s *suite) {
	b := s.shared(t)
	// The command goes on only after its output so far was seen: when output
	// is held back neither side gets further.
	stdin, answers := io.Pipe()
	defer answers.Close()
	stdout, stderr := await("one\n"), await("two\n")
	wait := b.background(t, t.Context(), sandbox.Command{
		Script: "echo one; read a; echo two >&2; read b; echo $a$b",
		Stdin:  stdin, Stdout: stdout, Stderr: stderr,
	})
	waitFor(t, "standard output", stdout.seen)
	io.WriteString(answers, "x\n")
	waitFor(t, "standard error", stderr.seen)
	io.WriteString(answers, "y\n")
	result, err := wait()
	if err != nil || result.Status != sandbox.Exited {
		t.Fatalf("got %s, error %v", show(result), err)
	}
	if stdout.String() != "one\nxy\n" {
		t.Errorf("stdout = %q, want %q", stdout.String(), "one\nxy\n")
	}
}

func testEndNeverLost(t *testing.T, s *suite) {
	b := s.shared(t)
	const size = 1_000_000
	for _, c := range []struct{ name, script string }{
		{"stderr last", "head -c 1000000 /dev/zero | tr '\\0' o; printf END; head -c 1000000 /dev/zero | tr '\\0' e >&2; printf END >&2"},
		{"stdout last", "head -c 1000000 /dev/zero | tr '\\0' e >&2; printf END >&2; head -c 1000000 /dev/zero | tr '\\0' o; printf END"},
		{"both at once, then killed", "{ head -c 1000000 /dev/zero | tr '\\0' e; printf END; } >&2 & head -c 1000000 /dev/zero | tr '\\0' o; printf END; wait; kill -9 $$"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 8 {
				out := b.script(t, c.script)
				wantStatus(t, out, sandbox.Exited, sandbox.Signaled)
				for name, text := range map[string]string{"stdout": out.stdout, "stderr": out.stderr} {
					if len(text) != size+3 || !strings.HasSuffix(text, "END") {
						t.Fatalf("%s has %d bytes and ends in %q, want %d and END", name, len(text), text[max(0, len(text)-10):], size+3)
					}
				}
			}
		})
	}
}

func testOutputLimit(t *testing.T, s *suite) {
	b := s.shared(t)
	mark := newMark()
	for _, c := range []struct {
		name, script string
		limit        int
	}{
		{"endless", "sleep " + mark + " & yes", 1_000_000},
		{"endless on stderr", "yes >&2", 70_000},
		{"less than one write", "yes", 7},
		{"one byte", "echo hello; sleep " + mark, 1},
		{"one byte more", "printf 123456; sleep " + mark, 5},
		{"both streams together", "yes & yes >&2", 100_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := b.run(t, sandbox.Command{Script: c.script, OutputLimit: int64(c.limit)})
			wantStatus(t, out, sandbox.OutputLimit)
			if got := len(out.stdout) + len(out.stderr); got != c.limit {
				t.Errorf("%d bytes arrived, want %d", got, c.limit)
			}
			b.wantGone(t, mark)
		})
	}
}

func testOutputLimitExact(t *testing.T, s *suite) {
	out := s.shared(t).run(t, sandbox.Command{Script: "printf 123; printf 45 >&2; exit 4", OutputLimit: 5})
	wantExit(t, out, 4)
	wantOutput(t, out, "123")
}

// failAfter is a writer that takes n bytes and then fails.
type failAfter struct {
	n   int
	err error
}

func (w *failAfter) Write(p []byte) (int, error) {
	if len(p) <= w.n {
		w.n -= len(p)
		return len(p), nil
	}
	return 0, w.err
}

func testWriterFails(t *testing.T, s *suite) {
	b := s.shared(t)
	boom := errors.New("no more room")
	for _, c := range []struct {
		name, script string
		after        int
		onStderr     bool
	}{
		{"endless writer", "yes", 100_000, false},
		{"endless writer on stderr", "yes >&2", 100_000, true},
		{"waiting command", "echo hello; sleep MARK", 0, false},
		{"command that has ended", "echo hello", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			mark := newMark()
			cmd := sandbox.Command{Script: strings.ReplaceAll(c.script, "MARK", mark)}
			if c.onStderr {
				cmd.Stderr = &failAfter{c.after, boom}
			} else {
				cmd.Stdout = &failAfter{c.after, boom}
			}
			if _, err := b.try(t, cmd); !errors.Is(err, boom) {
				t.Errorf("error = %v, want the writer's", err)
			}
			b.wantGone(t, mark)
		})
	}
}

// onePipeTests check that a value given for both streams sees their order.
func onePipeTests() []test {
	return []test{{"Order", func(t *testing.T, s *suite) {
		var both buffer
		out := s.shared(t).run(t, sandbox.Command{
			Script: `i=0; while [ $i -lt 1000 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done`,
			Stdout: &both, Stderr: &both,
		})
		wantExit(t, out, 0)
		var want bytes.Buffer
		for i := range 1000 {
			fmt.Fprintf(&want, "o%d\ne%d\n", i, i)
		}
		if both.String() != want.String() {
			t.Errorf("the order is not that of the writes: %q", clip(both.String()))
		}
	}}, {"ChildrenToo", func(t *testing.T, s *suite) {
		var both buffer
		out := s.shared(t).run(t, sandbox.Command{
			Script: "echo a >&2; sh -c 'echo b; echo c >&2'; cat /no/such/file || echo d; printf e >&2",
			Stdout: &both, Stderr: &both,
		})
		wantExit(t, out, 0)
		got := both.String()
		if !strings.HasPrefix(got, "a\nb\nc\n") || !strings.HasSuffix(got, "\nd\ne") || !strings.Contains(got, "/no/such/file") {
			t.Errorf("output = %q, want a b c, cat's message, d e", got)
		}
	}}}
}
