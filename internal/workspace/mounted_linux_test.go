package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// openMounted is open with the workspace on a file system of its own, which is
// in memory and of the given size.
func openMounted(t *testing.T, size string) (*workspace.Workspace, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ws")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size)
	if errors.Is(err, unix.EPERM) {
		t.Skip("only root can mount a file system")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return openAt(t, dir, sandbox.Owner{UID: os.Geteuid(), GID: os.Getegid(), Umask: 0o022}), dir
}

func TestRaceWithSwapsOnAnotherFileSystem(t *testing.T) {
	w, dir := openMounted(t, "4m")
	race(t, w, dir)
}

// A full disk leaves all files as they are.
func TestChangeOnAFullDisk(t *testing.T) {
	w, dir := openMounted(t, "64k")
	before := map[string]string{"a": "old a", "b": "old b"}
	for name, content := range before {
		put(t, filepath.Join(dir, name), content)
	}
	err := w.Change(func(c *workspace.Changes) error {
		for name, data := range map[string]string{"a": "new a", "b": strings.Repeat("x", 100<<10), "made/c": "new c"} {
			target, err := c.Place(name)
			if err != nil {
				return err
			}
			target.Write([]byte(data))
		}
		return nil
	})
	var refusal *workspace.Refusal
	if !errors.As(err, &refusal) || !errors.Is(err, syscall.ENOSPC) || refusal.Path != "b" {
		t.Errorf("Change = %v, want a refusal of b for lack of space", err)
	}
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
		t.Error("a folder was left behind")
	}
	if _, err := writeFile(w, "a", []byte("small")); err != nil {
		t.Errorf("what fits: %v", err)
	}
}

// A file that must not be changed stays, and the refusal says why.
func TestChangeOfAnImmutableFile(t *testing.T) {
	w, dir := open(t)
	path := filepath.Join(dir, "file")
	put(t, path, "old")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const immutable = 0x10
	set := func(flags int) error { return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags) }
	flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err == nil {
		err = set(flags | immutable)
	}
	if err != nil {
		t.Skipf("no file can be made immutable here: %v", err)
	}
	defer set(flags)
	_, err = writeFile(w, "file", []byte("new"))
	var refusal *workspace.Refusal
	if !errors.As(err, &refusal) || !errors.Is(err, unix.EPERM) {
		t.Errorf("WriteFile = %v, want a refusal", err)
	}
	if got := read(t, path); got != "old" {
		t.Errorf("the file holds %q", got)
	}
	noTemps(t, dir)
}
