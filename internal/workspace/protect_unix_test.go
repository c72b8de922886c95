//go:build unix

package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
)

// TestGitProtectionFIFO plants pipes that nobody writes to: opening one would
// wait for ever.
func TestGitProtectionFIFO(t *testing.T) {
	for _, name := range []string{".git", ".git/config", ".git/hooks", ".git/commondir"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if name != ".git" {
				lay(t, dir, ".git/")
			}
			if err := syscall.Mkfifo(filepath.Join(dir, name), 0o666); err != nil {
				t.Fatal(err)
			}
			_, _, err := workspace.GitProtection(dir, me())
			if err == nil || !strings.Contains(err.Error(), "FIFO") {
				t.Errorf("error = %v, want one that names the FIFO", err)
			}
		})
	}
}

// TestHooksMade looks at the folder that is made, as root for another owner.
func TestHooksMade(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, ".git/config")
	owner := sandbox.Owner{UID: os.Getuid(), GID: os.Getgid(), Umask: 0o027}
	if os.Getuid() == 0 {
		owner.UID, owner.GID = 1001, 1002
	}
	if _, _, err := workspace.GitProtection(dir, owner); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(filepath.Join(dir, ".git/hooks"))
	if err != nil {
		t.Fatal(err)
	}
	stat := info.Sys().(*syscall.Stat_t)
	if info.Mode().Perm()&0o027 != 0 || int(stat.Uid) != owner.UID || int(stat.Gid) != owner.GID {
		t.Errorf("made with mode %v for %d:%d, want the umask 027 and %d:%d", info.Mode(), stat.Uid, stat.Gid, owner.UID, owner.GID)
	}
}
