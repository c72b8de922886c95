package search_test

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/images"
	"github.com/belljar/belljar/internal/enginetest"
	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
)

// A ripgrep is the program to compare with: the host's, or the one of the
// default image, in a sandbox over a folder.
type ripgrep struct {
	root    string
	sandbox sandbox.Sandbox // nil for the host's
}

// newRipgrep skips the test where there is neither, unless an engine is required.
func newRipgrep(t testing.TB) *ripgrep {
	t.Helper()
	r := &ripgrep{root: t.TempDir()}
	if _, err := exec.LookPath("rg"); err == nil && os.Getenv(enginetest.Variable) != "require" {
		return r
	}
	if os.Getenv(enginetest.Variable) == "skip" {
		t.Skip("there is no ripgrep to compare with, and no engine is to be used")
	}
	helper, err := enginetest.Supervisor(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	owner, err := workspace.OwnerOf(r.root)
	if err != nil {
		t.Fatal(err)
	}
	engine := enginetest.Require(t, helper)
	r.sandbox, err = engine.Start(t.Context(), sandbox.Spec{Workspace: r.root, Owner: owner, Image: images.Tag()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.sandbox.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// space makes a workspace that the program sees.
func (r *ripgrep) space(t testing.TB) (*workspace.Workspace, string) {
	t.Helper()
	dir, err := os.MkdirTemp(r.root, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return spaceAt(t, dir), dir
}

// run gives what ripgrep prints of one of these workspaces, by lines.
func (r *ripgrep) run(t testing.TB, dir string, args ...string) []string {
	t.Helper()
	// Make it look at the files that a search looks at.
	args = append([]string{"--no-config", "--hidden", "--glob", "!.git", "--no-require-git", "--no-ignore-global", "--no-ignore-parent"}, args...)
	var lines []string
	if r.sandbox == nil {
		lines = output(t, dir, "rg", args...)
	} else {
		lines = r.inside(t, dir, args)
	}
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "./")
	}
	return lines
}

// inside runs ripgrep in the sandbox.
func (r *ripgrep) inside(t testing.TB, dir string, args []string) []string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	result, err := r.sandbox.Exec(t.Context(), sandbox.Command{
		Args: append([]string{"rg"}, args...), Dir: path.Join(sandbox.MountPoint, filepath.Base(dir)), Stdout: &stdout, Stderr: &stderr,
	})
	const nothing = 1 // its exit code when it has found nothing
	if err != nil || result.ExitCode == nil || *result.ExitCode > nothing || stderr.Len() > 0 {
		t.Fatalf("rg %q: %+v, %v\n%s", args, result, err, &stderr)
	}
	return split(stdout.String())
}
