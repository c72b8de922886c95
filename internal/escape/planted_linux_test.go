package escape

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPlanted lets the attempt through where nothing holds it, for one that
// always fails would prove nothing.
func TestPlanted(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	err := planted(dir)
	held, _ := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil || fs.Flags&unix.ST_NOSUID != 0 {
		held = 1
	}
	switch {
	case os.Getuid() != 0:
		if !errors.Is(err, unix.EPERM) {
			t.Errorf("planting a program of root's: %v, want that it is not permitted", err)
		}
	case (err == nil) != (held == 0):
		t.Errorf("error = %v, while no_new_privs or nosuid is %d", err, held)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}

// TestReleaseAgent finds the file where a hierarchy's top is seen.
func TestReleaseAgent(t *testing.T) {
	files, _ := filepath.Glob("/sys/fs/cgroup/*/release_agent")
	err := releaseAgent()
	if len(files) == 0 && err == nil || len(files) > 0 && errors.Is(err, unix.ENOENT) {
		t.Errorf("error = %v, with %d files there", err, len(files))
	}
}
