package workspace_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/workspace"
)

func TestCheck(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(top, "users", "me")
	t.Setenv("HOME", home)
	t.Setenv("SSH_AUTH_SOCK", filepath.Join(top, "agent", "sub", "sock"))
	t.Setenv("DOCKER_HOST", "unix://"+filepath.Join(top, "engine", "sock"))
	put(t, filepath.Join(home, "project", "file"), "")
	put(t, filepath.Join(top, "creds", ".aws", "credentials"), "")
	put(t, filepath.Join(top, "file"), "")
	put(t, filepath.Join(top, "extra", "sub", "sock"), "")
	link(t, home, filepath.Join(top, "homelink"))
	link(t, filepath.Join(home, "project"), filepath.Join(top, "projectlink"))
	t.Chdir(top)
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(top, "runtime"))
	for _, name := range []string{"bus", "systemd/private", "gnupg/S.gpg-agent", "gnupg/d.abc/S.gpg-agent.ssh"} {
		put(t, filepath.Join(top, "runtime", name), "")
	}
	put(t, filepath.Join(top, "runtime", "other", "file"), "")
	for _, dir := range []string{"agent/sub", "engine"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		// A relative name: the path of a socket may have about 100 bytes only.
		l, err := net.Listen("unix", filepath.Join(dir, "sock"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}

	for _, tt := range []struct {
		name, path, want, wantErr string
	}{
		{name: "a project below home", path: filepath.Join(home, "project"), want: filepath.Join(home, "project")},
		{name: "relative", path: "users/me/project", want: filepath.Join(home, "project")},
		{name: "through a link", path: "projectlink", want: filepath.Join(home, "project")},
		{name: "home", path: home, wantErr: "is a home folder"},
		{name: "home through a link", path: "homelink", wantErr: "is a home folder"},
		{name: "above home", path: "users", wantErr: "above the home folder"},
		{name: "root", path: "/", wantErr: "root of the file system"},
		{name: "etc", path: "/etc", wantErr: "system folder"},
		{name: "below etc", path: "/etc/ssl", wantErr: "system folder"},
		{name: "usr", path: "/usr", wantErr: "system folder"},
		{name: "below usr", path: "/usr/lib", wantErr: "system folder"},
		{name: "the folder for temporary files", path: "/tmp", wantErr: "is refused"},
		{name: "the other one", path: "/var/tmp", wantErr: "is refused"},
		{name: "credentials", path: "creds", wantErr: "has .aws directly"},
		{name: "engine's socket", path: "engine", wantErr: "holds the socket"},
		{name: "agent's socket, deep", path: "agent", wantErr: "holds the socket"},
		{name: "the user's bus", path: "runtime", wantErr: "holds the socket"},
		{name: "the user's service manager", path: "runtime/systemd", wantErr: "holds the socket"},
		{name: "keys of another home", path: "runtime/gnupg/d.abc", wantErr: "holds the socket"},
		{name: "in the folder of sockets", path: "runtime/other", want: filepath.Join(top, "runtime", "other")},
		{name: "further socket", path: "extra", wantErr: "holds the socket"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			extra := filepath.Join(top, "extra", "sub", "sock")
			got, err := workspace.Check(tt.path, false, extra)
			if tt.wantErr == "" {
				if err != nil || got != tt.want {
					t.Errorf("Check = %q, %v, want %q", got, err, tt.want)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.wantErr) || !strings.Contains(err.Error(), "--force-workspace") {
				t.Errorf("Check = %q, %v, want an error with %q and the flag that helps", got, err, tt.wantErr)
			}
			if _, err := workspace.Check(tt.path, true, extra); err != nil {
				t.Errorf("Check with force: %v", err)
			}
		})
	}
	for path, want := range map[string]string{"none": "does not exist", "file": "not a folder"} {
		if _, err := workspace.Check(path, true); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "force") {
			t.Errorf("Check(%q) with force = %v, want %q", path, err, want)
		}
	}
	t.Chdir(filepath.Join(home, "project"))
	if got, err := workspace.Check("", false); err != nil || got != filepath.Join(home, "project") {
		t.Errorf("Check of the current folder = %q, %v", got, err)
	}
}

func TestCheckEngineData(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(top, "engine")
	put(t, filepath.Join(root, "overlay2", "x"), "")
	put(t, filepath.Join(top, "engine2", "x"), "")
	link(t, root, filepath.Join(top, "data"))
	for _, test := range []struct {
		dir, root string
		refused   bool
	}{
		{root, root, true},
		{filepath.Join(root, "overlay2"), root, true},
		{filepath.Join(root, "overlay2"), filepath.Join(top, "data"), true},
		{top, root, true},
		{filepath.Join(top, "engine2"), root, false},
		{top, "", false},
		{top, filepath.Join(top, "none"), false},
	} {
		err := workspace.CheckEngineData(test.dir, test.root)
		if (err != nil) != test.refused || err != nil && !strings.Contains(err.Error(), "--force-workspace") {
			t.Errorf("%s with the data in %s: %v, want refused: %v", test.dir, test.root, err, test.refused)
		}
		err = workspace.CheckMountEngineData(test.dir, test.root)
		if (err != nil) != test.refused || err != nil && strings.Contains(err.Error(), "--force-workspace") {
			t.Errorf("mounting %s with the data in %s: %v, want refused: %v", test.dir, test.root, err, test.refused)
		}
	}
}
