package sandboxtest

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/belljar/belljar/sandbox"
)

// stdinTests check that a command reads exactly what it is given, then the end.
func stdinTests() []test {
	return []test{
		{"Nil", testStdinNil},
		{"Bytes", testStdinBytes},
		{"NotRead", testStdinNotRead},
		{"Endless", testStdinEndless},
		{"Blocked", testStdinBlocked},
	}
}

func testStdinNil(t *testing.T, s *suite) {
	out := s.shared(t).script(t, "cat; echo $?; if read x; then echo more; else echo end; fi; sh -c cat; exit 2")
	wantExit(t, out, 2)
	wantOutput(t, out, "0\nend\n")
	out = s.shared(t).run(t, sandbox.Command{Args: []string{"cat"}})
	wantExit(t, out, 0)
	wantOutput(t, out, "")
}

func testStdinBytes(t *testing.T, s *suite) {
	b := s.shared(t)
	random := make([]byte, 1<<20)
	source := rand.NewChaCha8([32]byte{1})
	source.Read(random)
	for _, c := range []struct {
		name, in string
		cmd      sandbox.Command
	}{
		{"empty", "", sandbox.Command{Script: "cat"}},
		{"no final newline", "a\nb", sandbox.Command{Script: "cat"}},
		{"1 MiB through a script", string(random), sandbox.Command{Script: "cat"}},
		{"1 MiB through argv", string(random), sandbox.Command{Args: []string{"cat"}}},
		{"script text is no input", "exit 9\n", sandbox.Command{Script: "cat; exit 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cmd.Stdin = strings.NewReader(c.in)
			out := b.run(t, c.cmd)
			wantExit(t, out, 0)
			if out.stdout != c.in {
				t.Errorf("%d bytes came back, want %d; stderr %q", len(out.stdout), len(c.in), clip(out.stderr))
			}
		})
	}
	t.Run("read line by line", func(t *testing.T) {
		out := b.run(t, sandbox.Command{Script: "read a; read b; echo $b$a; cat", Stdin: strings.NewReader("1\n2\n3\n")})
		wantExit(t, out, 0)
		wantOutput(t, out, "21\n3\n")
	})
}

func testStdinNotRead(t *testing.T, s *suite) {
	b := s.shared(t)
	for _, script := range []string{"exit 3", "exec <&-; exit 3", "head -c 5 >/dev/null; exit 3"} {
		out := b.run(t, sandbox.Command{Script: script, Stdin: bytes.NewReader(make([]byte, 1<<20))})
		wantExit(t, out, 3)
	}
}

// endless is a reader without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func testStdinEndless(t *testing.T, s *suite) {
	out := s.shared(t).run(t, sandbox.Command{Script: "head -c 5", Stdin: endless{}})
	wantExit(t, out, 0)
	wantOutput(t, out, "xxxxx")
}

func testStdinBlocked(t *testing.T, s *suite) {
	reader, writer := io.Pipe()
	defer writer.Close() // lets the reader that was left behind go
	out := s.shared(t).run(t, sandbox.Command{Script: "echo a; exit 3", Stdin: reader})
	wantExit(t, out, 3)
	wantOutput(t, out, "a\n")
}
