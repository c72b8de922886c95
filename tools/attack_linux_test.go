package tools_test

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// The same where the workspace is a file system of its own.
func TestReadingUnderAttackOnAnotherFileSystem(t *testing.T) {
	dir := t.TempDir()
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=16m")
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
	attack(t, newFilesAt(t, dir))
}
