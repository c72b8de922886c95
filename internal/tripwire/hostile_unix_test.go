//go:build unix

package tripwire_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/internal/tripwire"
)

// TestPlanted puts in the way what would block, lead out of the folder or go
// round in circles.
func TestPlanted(t *testing.T) {
	outside := t.TempDir()
	put(t, outside, ".envrc", "of the host")
	put(t, outside, "hooks/pre-commit", "of the host")
	dir := t.TempDir()
	put(t, dir, ".envrc", "old")
	put(t, dir, ".npmrc", "old")
	wire := set(t, dir, tripwire.Options{})
	for _, name := range []string{".npmrc", ".envrc"} {
		remove(t, dir, name)
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	symlink(t, dir, "/", ".git")
	symlink(t, dir, outside, ".vscode")
	symlink(t, dir, ".", ".idea")
	symlink(t, dir, outside, "folder")
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "sub/.git"), 0o755); err != nil {
		t.Fatal(err)
	}
	symlink(t, dir, filepath.Join(outside, "hooks"), "sub/.git/hooks")
	if err := syscall.Mkfifo(filepath.Join(dir, "sub/.git/config"), 0o666); err != nil {
		t.Fatal(err)
	}
	report, err := wire.Check()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]tripwire.Kind{}
	for _, change := range report.Changes {
		got[change.Path] = change.Kind
	}
	for path, kind := range map[string]tripwire.Kind{
		".envrc": tripwire.Replaced, ".npmrc": tripwire.Replaced, ".git": tripwire.Added, ".vscode": tripwire.Added,
		".idea": tripwire.Added, "sub/.git/hooks": tripwire.Added, "sub/.git/config": tripwire.Added,
	} {
		if diff := cmp.Diff(kind, got[path]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	for _, path := range []string{".vscode/.envrc", "folder/.envrc", "sub/.git/hooks/pre-commit"} {
		if _, seen := got[path]; seen {
			t.Errorf("%s was looked at, which is outside", path)
		}
	}
}
