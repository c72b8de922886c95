//go:build unix

package workspace_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/workspace"
)

func TestCheckMount(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", filepath.Join(dir, "home"))
	for _, name := range []string{"home/.ssh/old", "data", "run"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": "data", "keys": "home/.ssh"} {
		if err := os.Symlink(filepath.Join(dir, target), filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	socket := filepath.Join(dir, "run", "engine.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, tc := range []struct{ name, path, want, refused string }{
		{name: "folder", path: dir + "/data", want: dir + "/data"},
		{name: "link", path: dir + "/link", want: dir + "/data"},
		{name: "relative", path: "data", refused: "is not an absolute path"},
		{name: "drive letter", path: `C:\data`, refused: "is not an absolute path"},
		{name: "missing", path: dir + "/none", refused: "does not exist"},
		{name: "file", path: dir + "/data/file", refused: "is not a folder"},
		{name: "root", path: "/", refused: "root of the file system"},
		{name: "system", path: "/etc", refused: "system folder"},
		{name: "home", path: dir + "/home", refused: "home folder"},
		{name: "above the home", path: dir, refused: "above the home folder"},
		{name: "keys", path: dir + "/home/.ssh", refused: "a folder .ssh"},
		{name: "in keys", path: dir + "/home/.ssh/old", refused: "a folder .ssh"},
		{name: "link to keys", path: dir + "/keys", refused: "a folder .ssh"},
		{name: "engine's socket", path: dir + "/run", refused: "holds the socket"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := workspace.CheckMount(tc.path, socket)
			if tc.refused == "" {
				if err != nil || got != tc.want {
					t.Errorf("got %q and error %v, want %q", got, err, tc.want)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("got %q and error %v, want one with %q", got, err, tc.refused)
			}
		})
	}
	if _, err := os.Lstat(filepath.Join(dir, "none")); !os.IsNotExist(err) {
		t.Errorf("looking for a missing folder made it: %v", err)
	}
}
