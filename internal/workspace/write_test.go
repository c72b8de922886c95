package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/belljar/belljar/internal/workspace"
	"github.com/belljar/belljar/sandbox"
	"github.com/google/go-cmp/cmp"
)

func TestWriteFile(t *testing.T) {
	w, dir := open(t)
	put(t, filepath.Join(dir, "real", "target"), "old")
	link(t, "/workspace/real/target", filepath.Join(dir, "link"))
	link(t, "real/later", filepath.Join(dir, "dangling"))
	link(t, "real", filepath.Join(dir, "folder"))
	for _, tt := range []struct {
		name, path string
		want       written
	}{
		{"new", "new", written{Name: "new", Created: true}},
		{"again", "new", written{Name: "new"}},
		{"missing parents", "p/q/r/file", written{Name: "p/q/r/file", Created: true}},
		{"absolute", "/workspace/abs", written{Name: "abs", Created: true}},
		{"through a link", "link", written{Name: "real/target", Linked: true}},
		{"through a dangling link", "dangling", written{Name: "real/later", Linked: true, Created: true}},
		{"through a link to a folder", "folder/x", written{Name: "real/x", Linked: true, Created: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := "bytes of " + tt.name + "\x00\r\n\xff"
			got, err := writeFile(w, tt.path, []byte(data))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Written (-want +got):\n%s", diff)
			}
			if got := read(t, filepath.Join(dir, got.Name)); got != data {
				t.Errorf("file holds %q, want %q", got, data)
			}
		})
	}
	for _, name := range []string{"link", "dangling", "folder"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no longer a link: %v, %v", name, info, err)
		}
	}
	noTemps(t, dir)
}

// noTemps checks that no temporary file was left.
func noTemps(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), ".belljar-") {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWriteFileRefuses(t *testing.T) {
	w, dir := open(t)
	outside := filepath.Join(dir, "..", "outside")
	put(t, filepath.Join(outside, "file"), "untouched")
	put(t, filepath.Join(dir, "file"), "untouched")
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	link(t, "/", filepath.Join(dir, "x"))
	link(t, "../outside/file", filepath.Join(dir, "out"))
	link(t, "loop", filepath.Join(dir, "loop"))
	for _, tt := range []struct {
		name, path string
		wantErr    error
	}{
		{"link to the root", "x/tmp/evil", workspace.ErrOutside},
		{"link to a file outside", "out", workspace.ErrOutside},
		{"link to itself", "loop", fs.ErrInvalid},
		{"dot-dot", "../outside/file", workspace.ErrOutside},
		{"missing folder outside", "../outside/new/file", workspace.ErrOutside},
		{"absolute", "/tmp/evil", workspace.ErrOutside},
		{"folder", "folder", workspace.ErrFileType},
		{"folder by its slash", "new/", workspace.ErrFileType},
		{"the workspace", ".", workspace.ErrFileType},
		{"file as a folder", "file/x", workspace.ErrFileType},
		{"name too long", strings.Repeat("n", 300), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := writeFile(w, tt.path, []byte("evil"))
			var refusal *workspace.Refusal
			if !errors.As(err, &refusal) || (tt.wantErr != nil && !errors.Is(err, tt.wantErr)) {
				t.Errorf("WriteFile(%q) = %v, want a refusal that is %v", tt.path, err, tt.wantErr)
			}
		})
	}
	if got := read(t, filepath.Join(outside, "file")); got != "untouched" {
		t.Errorf("the file outside holds %q", got)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside holds %v, %v", entries, err)
	}
	noTemps(t, dir)
}

func TestWriteFileModes(t *testing.T) {
	dir := t.TempDir()
	w := openAt(t, dir, sandbox.Owner{UID: os.Geteuid(), GID: os.Getegid(), Umask: 0o077})
	for _, mode := range []fs.FileMode{0o755, 0o640, 0o600, 0o444} {
		name := mode.String()
		put(t, filepath.Join(dir, name), "old")
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
		if _, err := writeFile(w, name, []byte("new")); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != mode {
			t.Errorf("mode is %v after the write, want %v (%v)", info.Mode(), mode, err)
		}
	}
	if _, err := writeFile(w, "sub/new", nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{"sub": fs.ModeDir | 0o700, "sub/new": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v, want %v (%v)", name, info.Mode(), want, err)
		}
	}
}

func TestUpdateFile(t *testing.T) {
	w, dir := open(t)
	path := filepath.Join(dir, "file")
	put(t, path, "one")
	got, err := updateFile(w, "file", 10, func(old []byte) ([]byte, error) { return append(old, " two"...), nil })
	if err != nil || got.Name != "file" || got.Created {
		t.Fatalf("UpdateFile = %+v, %v", got, err)
	}
	if got := read(t, path); got != "one two" {
		t.Errorf("file holds %q", got)
	}

	boom := errors.New("boom")
	if _, err := updateFile(w, "file", 10, func([]byte) ([]byte, error) { return nil, boom }); err != boom {
		t.Errorf("error of the update came back as %v", err)
	}
	if _, err := updateFile(w, "file", 6, nil); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("a file over the limit: %v", err)
	}
	if _, err := updateFile(w, "none", 10, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := updateFile(w, ".", 10, nil); !errors.Is(err, workspace.ErrFileType) {
		t.Errorf("a folder: %v", err)
	}
	if got := read(t, path); got != "one two" {
		t.Errorf("file holds %q after refusals", got)
	}
}

func TestUpdateFileSeesAChange(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"rewritten": func(path string) error { return os.WriteFile(path, []byte("someone else's"), 0o644) },
		"removed":   os.Remove,
		"replaced by a link": func(path string) error {
			return errors.Join(os.Remove(path), os.Symlink("/etc/passwd", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := open(t)
			path := filepath.Join(dir, "file")
			put(t, path, "mine")
			_, err := updateFile(w, "file", 100, func([]byte) ([]byte, error) { return []byte("edited"), change(path) })
			if !errors.Is(err, workspace.ErrChanged) {
				t.Errorf("UpdateFile = %v, want ErrChanged", err)
			}
			if data, err := os.ReadFile(path); err == nil && string(data) == "edited" {
				t.Error("the other's change is lost")
			}
			noTemps(t, dir)
		})
	}
}

// Two names of one file must not lose one of two edits.
func TestUpdateFileConcurrently(t *testing.T) {
	w, dir := open(t)
	put(t, filepath.Join(dir, "file"), "")
	link(t, "file", filepath.Join(dir, "alias"))
	const each = 20
	var group sync.WaitGroup
	for _, name := range []string{"file", "alias"} {
		group.Go(func() {
			for range each {
				if _, err := updateFile(w, name, 1000, func(old []byte) ([]byte, error) { return append(old, 'x'), nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got := len(read(t, filepath.Join(dir, "file"))); got != 2*each {
		t.Errorf("%d edits are left of %d", got, 2*each)
	}
}
