package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/workspace"
	"github.com/google/go-cmp/cmp"
)

// files are the files below a folder with their contents.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			name, _ := filepath.Rel(dir, path)
			found[name] = read(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// several changes three files, makes one and removes one.
func several(c *workspace.Changes) error {
	for _, name := range []string{"a", "b", "dir/c"} {
		target, err := c.Existing(name)
		if err != nil {
			return err
		}
		target.Write([]byte("new " + name))
	}
	target, err := c.Place("made/deep/d")
	if err != nil {
		return err
	}
	target.Write([]byte("new d"))
	if target, err = c.Existing("e"); err != nil {
		return err
	}
	target.Remove()
	return nil
}

func lay5(t *testing.T, dir string) map[string]string {
	t.Helper()
	before := map[string]string{"a": "old a", "b": "old b", "dir/c": "old c", "e": "old e"}
	for name, content := range before {
		put(t, filepath.Join(dir, name), content)
	}
	return before
}

// ways are the ways to put files in place.
func ways() map[string]func(*workspace.Workspace) {
	return map[string]func(*workspace.Workspace){
		"as the system can": func(*workspace.Workspace) {},
		"without swaps":     workspace.WithoutSwaps,
		"without links":     workspace.WithoutLinks,
	}
}

func TestChangeSeveral(t *testing.T) {
	for name, way := range ways() {
		t.Run(name, func(t *testing.T) {
			w, dir := open(t)
			lay5(t, dir)
			way(w)
			if err := w.Change(several); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"a": "new a", "b": "new b", "dir/c": "new dir/c", "made/deep/d": "new d"}
			if diff := cmp.Diff(want, files(t, dir)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever comes in between, all files are as before but for what came.
func TestChangeNothingWhereOneFails(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, dir string) error
		kind error
		also map[string]string // what is different afterwards
	}{
		{"a failure", func(*testing.T, string) error { return broken }, broken, nil},
		{"a change", func(t *testing.T, dir string) error {
			return os.WriteFile(filepath.Join(dir, "dir/c"), []byte("theirs"), 0o644)
		}, workspace.ErrChanged, map[string]string{"dir/c": "theirs"}},
		{"a replacement", func(t *testing.T, dir string) error {
			put(t, filepath.Join(dir, "temp"), "theirs")
			return os.Rename(filepath.Join(dir, "temp"), filepath.Join(dir, "dir/c"))
		}, workspace.ErrChanged, map[string]string{"dir/c": "theirs"}},
		{"other permissions", func(t *testing.T, dir string) error { return os.Chmod(filepath.Join(dir, "dir/c"), 0o600) }, workspace.ErrChanged, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, dir := open(t)
			want := lay5(t, dir)
			workspace.BeforePut(w, func(n int) error {
				if n != 2 { // the third file, where two are in place
					return nil
				}
				return tt.do(t, dir)
			})
			err := w.Change(several)
			var refusal *workspace.Refusal
			if !errors.Is(err, tt.kind) || !errors.As(err, &refusal) || refusal.Path != "dir/c" {
				t.Errorf("Change = %v, want a refusal of dir/c that is %v", err, tt.kind)
			}
			for name, content := range tt.also {
				want[name] = content
			}
			if diff := cmp.Diff(want, files(t, dir)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
				t.Error("a folder was left behind")
			}
		})
	}
}

// What comes just before a file is put in place is not overwritten.
func TestChangeAtTheLastMoment(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(path string) error
		want string // what the name leads to afterwards; "" for nothing
	}{
		{"rewritten", func(path string) error { return os.WriteFile(path, []byte("theirs"), 0o644) }, "theirs"},
		{"replaced", func(path string) error {
			return errors.Join(os.WriteFile(path+".new", []byte("theirs"), 0o644), os.Rename(path+".new", path))
		}, "theirs"},
		{"removed", os.Remove, ""},
		{"a link", func(path string) error { return errors.Join(os.Remove(path), os.Symlink("../outside", path)) }, "outside"},
		{"a folder", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, dir := open(t)
			path := filepath.Join(dir, "file")
			put(t, path, "old")
			put(t, filepath.Join(dir, "..", "outside"), "outside")
			workspace.BeforePut(w, func(n int) error {
				if n > 0 {
					return nil
				}
				return tt.do(path)
			})
			_, err := updateFile(w, "file", 100, func([]byte) ([]byte, error) { return []byte("mine"), nil })
			if !errors.Is(err, workspace.ErrChanged) {
				t.Errorf("%v, want ErrChanged", err)
			}
			if data, err := os.ReadFile(path); (err == nil) != (tt.want != "") || string(data) != tt.want {
				t.Errorf("the file holds %q (%v), want %q", data, err, tt.want)
			}
			if got := read(t, filepath.Join(dir, "..", "outside")); got != "outside" {
				t.Errorf("the file outside holds %q", got)
			}
			noTemps(t, dir)
		})
	}
}

// A name that is taken just before a new file comes there keeps what took it.
func TestCreateAtTheLastMoment(t *testing.T) {
	for name, way := range ways() {
		t.Run(name, func(t *testing.T) {
			w, dir := open(t)
			path := filepath.Join(dir, "file")
			way(w)
			workspace.BeforePut(w, func(int) error { return os.WriteFile(path, []byte("theirs"), 0o644) })
			if _, err := writeFile(w, "file", []byte("mine")); !errors.Is(err, workspace.ErrChanged) {
				t.Errorf("%v, want ErrChanged", err)
			}
			if diff := cmp.Diff(map[string]string{"file": "theirs"}, files(t, dir)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// Where what was changed cannot be put back, the refusal says what is left.
func TestChangeSaysWhatIsLeft(t *testing.T) {
	w, dir := open(t)
	lay5(t, dir)
	workspace.BeforePut(w, func(n int) error {
		if n == 1 { // the second: the first is in place
			put(t, filepath.Join(dir, "temp"), "theirs")
			return errors.Join(os.Rename(filepath.Join(dir, "temp"), filepath.Join(dir, "a")), errors.New("broken"))
		}
		return nil
	})
	err := w.Change(several)
	if !errors.Is(err, workspace.ErrPartly) || !strings.Contains(err.Error(), `could not all be put back: "a" was changed by something else meanwhile, and its old content is in ".belljar-`) {
		t.Fatalf("Change = %v", err)
	}
	_, name, _ := strings.Cut(err.Error(), `old content is in "`)
	name, _, _ = strings.Cut(name, `"`)
	if got := read(t, filepath.Join(dir, name)); got != "old a" {
		t.Errorf("%s holds %q", name, got)
	}
	if got := read(t, filepath.Join(dir, "a")); got != "theirs" {
		t.Errorf("a holds %q", got)
	}
}

func TestChangeOfPlanThatFails(t *testing.T) {
	w, dir := open(t)
	want := lay5(t, dir)
	boom := errors.New("boom")
	err := w.Change(func(c *workspace.Changes) error { return errors.Join(several(c), boom) })
	if !errors.Is(err, boom) {
		t.Errorf("Change = %v", err)
	}
	if diff := cmp.Diff(want, files(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
		t.Error("a folder was left behind")
	}
}

func TestChangeOneFileTwice(t *testing.T) {
	w, dir := open(t)
	put(t, filepath.Join(dir, "file"), "old")
	link(t, "file", filepath.Join(dir, "link"))
	if err := os.Link(filepath.Join(dir, "file"), filepath.Join(dir, "hard")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "link", "hard", "/workspace/file"} {
		err := w.Change(func(c *workspace.Changes) error {
			if _, err := c.Existing("file"); err != nil {
				return err
			}
			_, err := c.Place(name)
			return err
		})
		if !errors.Is(err, workspace.ErrTwice) {
			t.Errorf("file and %s: %v, want ErrTwice", name, err)
		}
	}
}

func TestVersions(t *testing.T) {
	w, dir := open(t)
	path := filepath.Join(dir, "file")
	version := func() workspace.Version {
		t.Helper()
		f, err := w.Open("file")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		v, err := f.Version()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	put(t, path, "one")
	if version() != workspace.VersionOf([]byte("one")) {
		t.Error("the version is not that of the content")
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Skipf("no sparse file of this size here: %v", err)
	}
	large := version()
	if large != version() {
		t.Error("two looks at a large file differ")
	}
	if err := os.Truncate(path, 1<<40+1); err != nil {
		t.Fatal(err)
	}
	if large == version() {
		t.Error("a change of a large file is not seen")
	}
	if _, err := updateFile(w, "file", 100, func([]byte) ([]byte, error) { return nil, nil }); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("a sparse file of a terabyte: %v", err)
	}
	if _, err := writeFile(w, "file", []byte("small")); err != nil || read(t, path) != "small" {
		t.Errorf("overwriting it: %v", err)
	}
}
