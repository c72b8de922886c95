//go:build unix

package workspace_test

import (
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
	"github.com/google/go-cmp/cmp"
)

func TestOwnerOfOwnFolder(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	got, err := workspace.OwnerOf(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got.UID != os.Geteuid() || got.GID != os.Getegid() || got.Umask != 0o027 {
		t.Errorf("OwnerOf = %+v", got)
	}
	if slices.Contains(got.Groups, got.GID) {
		t.Errorf("the main group is among the further ones: %+v", got)
	}
}

func TestOwnerOfAnothersFolder(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a folder that is another's")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 54321, 65432); err != nil {
		t.Fatal(err)
	}
	old := syscall.Umask(0o022)
	defer syscall.Umask(old)
	got, err := workspace.OwnerOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sandbox.Owner{UID: 54321, GID: 65432, Umask: 0o022}, got); diff != "" {
		t.Errorf("OwnerOf (-want +got):\n%s", diff)
	}
}

func TestOwnerOfMissing(t *testing.T) {
	if _, err := workspace.OwnerOf("/nonexistent/folder"); err == nil {
		t.Error("no error for a folder that does not exist")
	}
}
