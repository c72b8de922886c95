package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
)

// Whatever a path or a link says, nothing outside is written, and what was
// written is told by its true name.
func FuzzWriteFile(f *testing.F) {
	for _, seed := range [][2]string{
		{"a/b", "x"}, {"link/x", "/"}, {"link", "../outside/file"}, {"link/../x", "/workspace/sub"},
		{"/workspace/link", "/workspace/../outside"}, {"../ws/x", "link"}, {"link/link", "."}, {"sub/../../ws/y", ".."},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, name, target string) {
		top := t.TempDir()
		dir, outside := filepath.Join(top, "ws"), filepath.Join(top, "outside")
		put(t, filepath.Join(outside, "file"), "untouched")
		put(t, filepath.Join(dir, "sub", "file"), "")
		w, err := workspace.Open(dir, mount, sandbox.Owner{UID: os.Geteuid(), GID: os.Getegid(), Umask: 0o022})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		_ = os.Symlink(target, filepath.Join(dir, "link")) // some targets cannot be
		written, err := writeFile(w, name, []byte("evil"))
		var refusal *workspace.Refusal
		switch {
		case errors.As(err, &refusal):
		case err != nil:
			t.Errorf("WriteFile(%q) with a link to %q: %v", name, target, err)
		default:
			if info, err := os.Lstat(filepath.Join(dir, written.Name)); err != nil || !info.Mode().IsRegular() || info.Size() != 4 {
				t.Errorf("WriteFile(%q) with a link to %q tells of %q: %v, %v", name, target, written.Name, info, err)
			}
		}
		if read(t, filepath.Join(outside, "file")) != "untouched" {
			t.Errorf("WriteFile(%q) with a link to %q wrote outside", name, target)
		}
		for dir, want := range map[string]int{top: 2, outside: 1} {
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != want {
				t.Errorf("WriteFile(%q) with a link to %q left %v in %s", name, target, entries, dir)
			}
		}
	})
}
