package sandboxtest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/belljar/belljar/sandbox"
)

// lifecycleTests check starting and closing.
func lifecycleTests() []test {
	return []test{
		{"Info", testInfo},
		{"StartOutlivesContext", testStartOutlivesContext},
		{"StartCanceled", testStartCanceled},
		{"StartRefused", testStartRefused},
		{"CloseTwice", testCloseTwice},
		{"CloseDuringExec", testCloseDuringExec},
		{"CloseEndsAll", testCloseEndsAll},
		{"SandboxesApart", testSandboxesApart},
	}
}

func testInfo(t *testing.T, s *suite) {
	info := s.shared(t).Info()
	for name, value := range map[string]string{
		"ID": info.ID, "Engine": info.Engine, "Runtime": info.Runtime, "Shell": info.Shell, "User": info.User,
	} {
		if value == "" {
			t.Errorf("Info().%s is empty", name)
		}
	}
	out := s.box.script(t, `test -x "`+info.Shell+`" && echo "$(id -u):$(id -g)"`)
	wantExit(t, out, 0)
	wantOutput(t, out, info.User+"\n")
}

func testStartOutlivesContext(t *testing.T, s *suite) {
	ctx, cancel := context.WithCancel(t.Context())
	sb, err := s.cfg.Runtime.Start(ctx, s.cfg.Spec(t))
	cancel()
	if err != nil {
		t.Fatal(err)
	}
	defer sb.Close()
	for range 3 {
		result, err := sb.Exec(t.Context(), sandbox.Command{Script: "exit 3"})
		if err != nil || result.Status != sandbox.Exited || *result.ExitCode != 3 {
			t.Fatalf("got %s, error %v, want exited 3", show(result), err)
		}
	}
}

func testStartCanceled(t *testing.T, s *suite) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	within(t, "Start with a context that is done", func() {
		sb, err := s.cfg.Runtime.Start(ctx, s.cfg.Spec(t))
		if err == nil {
			sb.Close()
			t.Error("a sandbox started although the context was done")
		}
	})
}

func testStartRefused(t *testing.T, s *suite) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	for name, workspace := range map[string]string{
		"empty": "", "relative": "some/folder", "missing": missing, "a file": file,
	} {
		t.Run(name, func(t *testing.T) {
			spec := s.cfg.Spec(t)
			spec.Workspace = workspace
			sb, err := s.cfg.Runtime.Start(t.Context(), spec)
			if err == nil {
				sb.Close()
				t.Errorf("workspace %q was taken", workspace)
			}
		})
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("the missing workspace was made")
	}
}

func testCloseTwice(t *testing.T, s *suite) {
	b := s.start(t)
	wantExit(t, b.script(t, "echo kept >file"), 0)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := b.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	within(t, "Close", group.Wait)
	if err := b.Close(); err != nil {
		t.Errorf("Close once more: %v", err)
	}
	if _, err := b.try(t, sandbox.Command{Script: "true"}); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("Exec after Close: error = %v, want one that wraps ErrClosed", err)
	}
	got, err := os.ReadFile(filepath.Join(b.spec.Workspace, "file"))
	if err != nil || string(got) != "kept\n" {
		t.Errorf("the workspace's file after Close: %q, %v", got, err)
	}
}

func testCloseDuringExec(t *testing.T, s *suite) {
	b := s.start(t)
	reader, writer := io.Pipe() // a stdin that nobody ends
	defer writer.Close()
	var waits []func() (sandbox.Result, error)
	for range 3 {
		stdout := await("READY\n")
		waits = append(waits, b.background(t, t.Context(), sandbox.Command{
			Script: "trap '' TERM HUP INT; echo READY; sleep 600; sleep 600", Stdin: reader, Stdout: stdout,
		}))
		waitFor(t, "the command", stdout.seen)
	}
	within(t, "Close", func() {
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	for _, wait := range waits {
		if result, err := wait(); !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("got %s, error %v, want one that wraps ErrClosed", show(result), err)
		}
	}
}

func testCloseEndsAll(t *testing.T, s *suite) {
	b := s.start(t)
	out := b.script(t, "mkfifo held && { setsid sh -c 'trap \"\" TERM HUP; sleep 600; sleep 600' >held 2>/dev/null </dev/null & }")
	wantExit(t, out, 0)
	if runtime.GOOS != "linux" {
		return // a named pipe does not reach across a virtual machine
	}
	if _, err := os.Lstat(filepath.Join(b.spec.Workspace, "held")); errors.Is(err, fs.ErrNotExist) {
		return // nor out of a kernel in user space
	}
	// The open end of the pipe is the process's sign of life.
	var held *os.File
	within(t, "opening the pipe", func() {
		var err error
		if held, err = os.Open(filepath.Join(b.spec.Workspace, "held")); err != nil {
			t.Error(err)
		}
	})
	if held == nil {
		t.FailNow()
	}
	defer held.Close()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	within(t, "the process that was left", func() {
		if _, err := held.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("reading from the process that was left: %v, want EOF", err)
		}
	})
}

func testSandboxesApart(t *testing.T, s *suite) {
	one, two := s.start(t), s.start(t)
	if one.Info().ID == two.Info().ID {
		t.Errorf("two sandboxes have the same ID %q", one.Info().ID)
	}
	wantExit(t, one.script(t, "echo one >name"), 0)
	wantExit(t, two.script(t, "echo two >name"), 0)
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	out := two.script(t, "cat name")
	wantExit(t, out, 0)
	wantOutput(t, out, "two\n")
}
