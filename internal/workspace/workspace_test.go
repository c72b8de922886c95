package workspace_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
)

const mount = "/workspace"

// open makes a workspace named ws in a fresh folder, beside which outside
// things can lie.
func open(t *testing.T) (*workspace.Workspace, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ws")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return openAt(t, dir, sandbox.Owner{UID: os.Geteuid(), GID: os.Getegid(), Umask: 0o022}), dir
}

func openAt(t *testing.T, dir string, owner sandbox.Owner) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(dir, mount, owner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestOpenPaths(t *testing.T) {
	w, dir := open(t)
	put(t, filepath.Join(dir, "a", "b", "file"), "inside")
	put(t, filepath.Join(dir, "..", "ws-evil", "file"), "outside")
	put(t, filepath.Join(dir, "..", "secret"), "outside")
	link(t, "b/file", filepath.Join(dir, "a", "rel"))
	link(t, "/workspace/a/b", filepath.Join(dir, "abs"))
	link(t, "../../workspace/a/b/file", filepath.Join(dir, "a", "round"))
	link(t, "abs/../rel", filepath.Join(dir, "physical"))
	link(t, "/", filepath.Join(dir, "x"))
	link(t, "../secret", filepath.Join(dir, "up"))
	link(t, "/workspace-evil/file", filepath.Join(dir, "sibling"))
	link(t, dir+"/a/b/file", filepath.Join(dir, "hostpath"))
	link(t, "nowhere", filepath.Join(dir, "dangling"))
	link(t, "two", filepath.Join(dir, "one"))
	link(t, "one", filepath.Join(dir, "two"))
	link(t, "/dev/null", filepath.Join(dir, "device"))

	for _, tt := range []struct {
		name, path string
		want       string // the real name, where it opens
		wantErr    error
		wantText   string
	}{
		{name: "relative", path: "a/b/file", want: "a/b/file"},
		{name: "dots and double slashes", path: "./a//b/../b/file", want: "a/b/file"},
		{name: "absolute under the mount point", path: "/workspace/a/b/file", want: "a/b/file"},
		{name: "absolute by way of the root", path: "/etc/../workspace/a/b/file", want: "a/b/file"},
		{name: "the workspace", path: "/workspace", want: "."},
		{name: "the workspace, relative", path: ".", want: "."},
		{name: "a folder with a slash", path: "a/b/", want: "a/b"},
		{name: "relative link", path: "a/rel", want: "a/b/file"},
		{name: "absolute link", path: "abs/file", want: "a/b/file"},
		{name: "link out and in again", path: "a/round", want: "a/b/file"},
		{name: "dot-dot after a link is that of its target", path: "physical", want: "a/b/file"},
		{name: "dot-dot", path: "../secret", wantErr: workspace.ErrOutside, wantText: "/workspace"},
		{name: "dot-dot deep", path: "a/../../secret", wantErr: workspace.ErrOutside},
		{name: "absolute outside", path: "/etc/passwd", wantErr: workspace.ErrOutside, wantText: "use a path relative"},
		{name: "sibling prefix", path: "/workspace-evil/file", wantErr: workspace.ErrOutside},
		{name: "sibling through dot-dot", path: "../ws-evil/file", wantErr: workspace.ErrOutside},
		{name: "the host's path", path: dir + "/a/b/file", wantErr: workspace.ErrOutside},
		{name: "link outside, absolute", path: "/workspace/x", wantErr: workspace.ErrOutside, wantText: `is a link to "/", which is outside`},
		{name: "link to the root", path: "x/etc/passwd", wantErr: workspace.ErrOutside, wantText: `"x" leads to "/"`},
		{name: "relative link out", path: "up", wantErr: workspace.ErrOutside, wantText: `"../secret"`},
		{name: "link to a sibling prefix", path: "sibling", wantErr: workspace.ErrOutside},
		{name: "link to the host's path", path: "hostpath", wantErr: workspace.ErrOutside},
		{name: "dangling link", path: "dangling", wantErr: fs.ErrNotExist, wantText: `link to "nowhere"`},
		{name: "link cycle", path: "one", wantErr: fs.ErrInvalid, wantText: "cycle"},
		{name: "link to a device", path: "device", wantErr: workspace.ErrOutside, wantText: "/dev/null"},
		{name: "missing", path: "a/none", wantErr: fs.ErrNotExist},
		{name: "missing folder", path: "none/file", wantErr: fs.ErrNotExist, wantText: `no folder "none"`},
		{name: "file as a folder", path: "a/b/file/x", wantErr: workspace.ErrFileType, wantText: "not a folder"},
		{name: "empty", path: "", wantErr: fs.ErrInvalid},
		{name: "NUL", path: "a\x00b", wantErr: fs.ErrInvalid},
		{name: "home", path: "~/x", wantErr: fs.ErrInvalid, wantText: "not expanded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := w.Open(tt.path)
			if err == nil {
				defer f.Close()
			}
			if tt.wantErr != nil {
				var refusal *workspace.Refusal
				if !errors.Is(err, tt.wantErr) || !errors.As(err, &refusal) {
					t.Fatalf("Open(%q) = %v, want a refusal that is %v", tt.path, err, tt.wantErr)
				}
				if !strings.Contains(err.Error(), tt.wantText) || strings.Contains(refusal.Why, "\n") {
					t.Errorf("error %q, want one line with %q", err, tt.wantText)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if f.Name != tt.want {
				t.Errorf("Name = %q, want %q", f.Name, tt.want)
			}
			if !f.Info.IsDir() {
				if data, err := io.ReadAll(f); err != nil || string(data) != "inside" {
					t.Errorf("read %q, %v", data, err)
				}
			}
		})
	}
}

func TestOpenTellsAFollowedLink(t *testing.T) {
	w, dir := open(t)
	put(t, filepath.Join(dir, "AGENTS.md"), "text")
	link(t, "AGENTS.md", filepath.Join(dir, "CLAUDE.md"))
	for name, linked := range map[string]bool{"AGENTS.md": false, "CLAUDE.md": true} {
		f, err := w.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.Linked != linked || f.Name != "AGENTS.md" {
			t.Errorf("Open(%q): Linked = %v, Name = %q", name, f.Linked, f.Name)
		}
	}
}

func TestStat(t *testing.T) {
	w, dir := open(t)
	put(t, filepath.Join(dir, "file"), "12345")
	if info, err := w.Stat("file"); err != nil || info.Size() != 5 {
		t.Errorf("Stat(file) = %v, %v", info, err)
	}
	if _, err := w.Stat("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat(none) = %v, want not exist", err)
	}
}

func TestClosed(t *testing.T) {
	w, _ := open(t)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var refusal *workspace.Refusal
	if _, err := w.Open("x"); !errors.Is(err, os.ErrClosed) || errors.As(err, &refusal) {
		t.Errorf("Open on a closed workspace: %v, want os.ErrClosed and no refusal", err)
	}
	if _, err := writeFile(w, "x", nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("WriteFile on a closed workspace: %v", err)
	}
}

func TestOpenRefusesMountPoint(t *testing.T) {
	for _, mount := range []string{"", "/", "workspace", "/jar/../space", "/jar/"} {
		if w, err := workspace.Open(t.TempDir(), mount, sandbox.Owner{}); err == nil {
			w.Close()
			t.Errorf("Open with mount point %q succeeded", mount)
		}
	}
}
