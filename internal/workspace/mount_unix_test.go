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
	for _, name := range []string{
		"home/.ssh/old", "home/.config/gh", "home/.config/nvim", "home/.local/share/keyrings", "home/.local/share/fonts", "vault/sub", "data", "run",
	} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": "data", "keys": "home/.ssh", "home/.aws": "vault"} {
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
		{name: "above keys", path: dir + "/home/.config", refused: "where keys are kept"},
		{name: "keys in a folder of settings", path: dir + "/home/.config/gh", refused: "where keys are kept"},
		{name: "beside keys", path: dir + "/home/.config/nvim", want: dir + "/home/.config/nvim"},
		{name: "above key rings", path: dir + "/home/.local/share", refused: "where keys are kept"},
		{name: "key rings", path: dir + "/home/.local/share/keyrings", refused: "where keys are kept"},
		{name: "beside key rings", path: dir + "/home/.local/share/fonts", want: dir + "/home/.local/share/fonts"},
		{name: "where a link of keys leads", path: dir + "/vault", refused: "where keys are kept"},
		{name: "in where a link of keys leads", path: dir + "/vault/sub", refused: "where keys are kept"},
		{name: "engine's socket", path: dir + "/run", refused: "holds the socket"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := workspace.CheckMount(tc.path, false, socket)
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

// TestCheckMountOfTheSystem asserts which folders of the system can be mounted
// to be read.
func TestCheckMountOfTheSystem(t *testing.T) {
	for path, readable := range map[string]bool{
		"/usr/share": true, "/usr/share/doc": true, "/usr/lib": true, "/lib": true, "/etc/ssl/certs": true,
		"/usr": false, "/etc": false, "/etc/ssl": false, "/etc/ssl/private": false, "/etc/init.d": false,
		"/proc": false, "/proc/self": false, "/sys": false, "/sys/fs": false, "/dev": false, "/dev/shm": false, "/run": false, "/var/lib": false,
	} {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue // this machine has none
		}
		if path == "/lib" && real == path {
			continue // not a link into /usr
		}
		if _, err := workspace.CheckMount(path, false); err == nil {
			t.Errorf("%s can be mounted for writing", path)
		}
		if _, err := workspace.CheckMount(path, true); (err == nil) != readable {
			t.Errorf("mounting %s read-only: %v, want it to pass: %v", path, err, readable)
		}
	}
}
