package sandboxtest_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/belljar/belljar/internal/leaktest"
	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/sandbox/sandboxtest"
)

// newSpec makes a workspace that belongs to who runs the test.
func newSpec(t testing.TB) sandbox.Spec {
	return sandbox.Spec{
		Workspace: t.TempDir(),
		Owner:     sandbox.Owner{UID: os.Getuid(), GID: os.Getgid(), Umask: 0o027},
	}
}

func newRuntime(t testing.TB, opts sandboxtest.Options) *sandboxtest.Runtime {
	t.Helper()
	runtime, err := sandboxtest.NewRuntime(opts)
	if err != nil {
		t.Fatal(err)
	}
	return runtime
}

func TestHostRuntime(t *testing.T) {
	for _, shell := range []string{"bash", "sh"} {
		t.Run(shell, func(t *testing.T) {
			sandboxtest.TestRuntime(t, sandboxtest.Config{
				Runtime: newRuntime(t, sandboxtest.Options{Shell: shell}),
				Spec:    func(t *testing.T) sandbox.Spec { return newSpec(t) },
				Bash:    shell == "bash",
			})
		})
	}
}

func BenchmarkHostExec(b *testing.B) {
	sandboxtest.BenchmarkExec(b, newRuntime(b, sandboxtest.Options{}), newSpec(b))
}

// start starts a sandbox that is closed when the test ends.
func start(t *testing.T, spec sandbox.Spec) sandbox.Sandbox {
	t.Helper()
	sb, err := newRuntime(t, sandboxtest.Options{}).Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sb.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return sb
}

// output runs a script that must exit 0.
func output(t *testing.T, sb sandbox.Sandbox, script string) string {
	t.Helper()
	var both bytes.Buffer
	result, err := sb.Exec(t.Context(), sandbox.Command{Script: script, Stdout: &both, Stderr: &both})
	if err != nil || result.Status != sandbox.Exited || *result.ExitCode != 0 {
		t.Fatalf("%s: %+v, %v, output %q", script, result, err, both.String())
	}
	return both.String()
}

func TestNoShell(t *testing.T) {
	if _, err := sandboxtest.NewRuntime(sandboxtest.Options{Shell: "no-such-shell"}); err == nil {
		t.Error("a shell that does not exist was taken")
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	leaktest.Check(t, 0)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	spec := newSpec(t)
	sb, err := newRuntime(t, sandboxtest.Options{}).Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	output(t, sb, "echo x >file; echo x >~/file; sleep 600 & setsid sleep 600 &")
	output(t, sb, "yes >&2 &")
	if err := sb.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(temp)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "belljar-host-") {
			t.Errorf("%s is left", entry.Name())
		}
	}
	if _, err := os.Stat(filepath.Join(spec.Workspace, "file")); err != nil {
		t.Errorf("the workspace's file is gone: %v", err)
	}
}

// A process that is left behind writes to pipes that nobody reads for its
// command any more, and must not die of it.
func TestLeftWriterLives(t *testing.T) {
	sb := start(t, newSpec(t))
	output(t, sb, "mkfifo go && { (read x <go; echo late; echo late >&2; echo alive >answer.tmp; mv answer.tmp answer) & }")
	if got := output(t, sb, "echo x >go; until [ -e answer ]; do :; done; cat answer"); got != "alive\n" {
		t.Errorf("output = %q, want %q", got, "alive\n")
	}
}

func TestWorkspaceBehindLink(t *testing.T) {
	spec := newSpec(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(spec.Workspace, link); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(link)
	if err != nil {
		t.Fatal(err)
	}
	spec.Workspace = link
	sb := start(t, spec)
	if got := sb.Info().MountPoint; got != real {
		t.Errorf("MountPoint = %q, want %q", got, real)
	}
	if got := output(t, sb, "pwd"); got != real+"\n" {
		t.Errorf("pwd = %q, want %q", got, real)
	}
}

func TestOwner(t *testing.T) {
	spec := newSpec(t)
	spec.Owner = sandbox.Owner{UID: os.Getuid() + 4321, GID: os.Getgid() + 1234, Groups: []int{7}, Umask: 0o077}
	if os.Getuid() != 0 {
		sb, err := newRuntime(t, sandboxtest.Options{}).Start(t.Context(), spec)
		if err == nil {
			sb.Close()
			t.Error("another owner was taken without root")
		}
		return
	}
	// A fresh folder, for those above t.TempDir are closed to others.
	dir, err := os.MkdirTemp("", "owner-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chown(dir, spec.Owner.UID, spec.Owner.GID); err != nil {
		t.Fatal(err)
	}
	spec.Workspace = dir
	sb := start(t, spec)
	if got := output(t, sb, "id -u; id -g; id -G; cd; : >file && test -O file && cd / && mkdir ~/folder"); got != "4321\n1234\n1234 7\n" {
		t.Errorf("output = %q", got)
	}
	output(t, sb, "mkdir folder && : >folder/file")
	for name, mode := range map[string]fs.FileMode{"folder": fs.ModeDir | 0o700, "folder/file": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if stat := info.Sys().(*syscall.Stat_t); stat.Uid != 4321 || stat.Gid != 1234 || info.Mode() != mode {
			t.Errorf("%s: %d:%d %v, want 4321:1234 %v", name, stat.Uid, stat.Gid, info.Mode(), mode)
		}
	}
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	result, err := sb.Exec(t.Context(), sandbox.Command{Script: "true", Dir: closed})
	if err != nil || !result.DirLost || result.Dir != sb.Info().MountPoint {
		t.Errorf("in a folder that may not be entered: %+v, %v", result, err)
	}
}

func TestInputFails(t *testing.T) {
	sb := start(t, newSpec(t))
	boom := errors.New("no more input")
	_, err := sb.Exec(t.Context(), sandbox.Command{
		Script: "cat; sleep 600", Stdin: io.MultiReader(strings.NewReader("text"), iotest.ErrReader(boom)),
	})
	if !errors.Is(err, boom) {
		t.Errorf("error = %v, want the reader's", err)
	}
}

func TestArgumentsTooLong(t *testing.T) {
	sb := start(t, newSpec(t))
	_, err := sb.Exec(t.Context(), sandbox.Command{Args: []string{"true", strings.Repeat("x", 1<<20)}})
	if !errors.Is(err, sandbox.ErrInvalidCommand) {
		t.Errorf("error = %v, want one that wraps ErrInvalidCommand", err)
	}
}

func TestWorkspaceGone(t *testing.T) {
	spec := newSpec(t)
	sb := start(t, spec)
	if err := os.Remove(spec.Workspace); err != nil {
		t.Fatal(err)
	}
	if result, err := sb.Exec(t.Context(), sandbox.Command{Script: "true"}); err == nil {
		t.Errorf("got %+v, want an error: there is nowhere to run", result)
	}
}

func TestSyntaxErrorNamesItsLine(t *testing.T) {
	spec := newSpec(t)
	for _, shell := range []string{"bash", "sh"} {
		sb, err := newRuntime(t, sandboxtest.Options{Shell: shell}).Start(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		_, err = sb.Exec(t.Context(), sandbox.Command{Script: "true\ntrue\n) x", Stderr: &stderr})
		sb.Close()
		text := stderr.String()
		if err != nil || !strings.Contains(text, "3") || strings.Contains(text, "trap") || strings.Contains(text, "belljar") {
			t.Errorf("%s: message %q, error %v, want line 3 and nothing of the wrapper", shell, text, err)
		}
	}
}
