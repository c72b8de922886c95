package workspace_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belljar/belljar/internal/workspace"
	"github.com/google/go-cmp/cmp"
)

// Every way to open a folder must keep to the same rules: that of this system,
// and the one that is for all.
func eachFolder(t *testing.T, test func(t *testing.T, dir string, top *workspace.Folder)) {
	for name, opener := range map[string]func(*workspace.Workspace, string) (*workspace.Folder, error){
		"own":      (*workspace.Workspace).OpenFolder,
		"portable": workspace.OpenPortableFolder,
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := open(t)
			put(t, filepath.Join(dir, "..", "outside", "secret"), "secret")
			top, err := opener(w, ".")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { top.Close() })
			test(t, dir, top)
		})
	}
}

func TestFolderEntries(t *testing.T) {
	eachFolder(t, func(t *testing.T, dir string, top *workspace.Folder) {
		put(t, filepath.Join(dir, "a", "b"), "x")
		put(t, filepath.Join(dir, ".hidden"), "x")
		link(t, "a", filepath.Join(dir, "link"))
		want := []workspace.Entry{
			{Name: ".hidden", Kind: workspace.KindFile}, {Name: "a", Kind: workspace.KindFolder}, {Name: "link", Kind: workspace.KindLink},
		}
		for range 2 { // it can be read again
			got, all, err := top.Entries(100)
			if err != nil || !all {
				t.Fatalf("all = %v, %v", all, err)
			}
			slices.SortFunc(got, func(a, b workspace.Entry) int { return strings.Compare(a.Name, b.Name) })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		}
		if got, all, err := top.Entries(2); len(got) != 2 || all || err != nil {
			t.Errorf("two of three: %v, all = %v, %v", got, all, err)
		}
	})
}

func TestFolderManyEntries(t *testing.T) {
	eachFolder(t, func(t *testing.T, dir string, top *workspace.Folder) {
		for i := range 3000 {
			put(t, filepath.Join(dir, fmt.Sprintf("%s-%d", strings.Repeat("n", i%200), i)), "")
		}
		got, all, err := top.Entries(10_000)
		if len(got) != 3000 || !all || err != nil {
			t.Errorf("%d entries, all = %v, %v", len(got), all, err)
		}
	})
}

func TestFolderOpens(t *testing.T) {
	eachFolder(t, func(t *testing.T, dir string, top *workspace.Folder) {
		put(t, filepath.Join(dir, "a", "file"), "content")
		at := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(dir, "a", "file"), at, at); err != nil {
			t.Fatal(err)
		}
		sub, err := top.Folder("a")
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		if sub.Name != "a" {
			t.Errorf("its name is %q", sub.Name)
		}
		f, err := sub.File("file")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got, err := io.ReadAll(f); string(got) != "content" || err != nil || f.Size() != 7 {
			t.Errorf("read %q of %d, %v", got, f.Size(), err)
		}
		if got, err := sub.Modified("file"); err != nil || !got.Equal(at) {
			t.Errorf("modified %v, %v", got, err)
		}
	})
}

// What leads elsewhere is not opened, by whatever name.
func TestFolderFollowsNothing(t *testing.T) {
	eachFolder(t, func(t *testing.T, dir string, top *workspace.Folder) {
		put(t, filepath.Join(dir, "a", "file"), "content")
		link(t, "a", filepath.Join(dir, "inside"))
		link(t, "../outside", filepath.Join(dir, "out"))
		link(t, "../outside/secret", filepath.Join(dir, "leak"))
		link(t, "a/file", filepath.Join(dir, "alias"))
		for _, name := range []string{"inside", "out", "leak", "..", "a/../..", "missing", ""} {
			if sub, err := top.Folder(name); err == nil {
				sub.Close()
				t.Errorf("the folder %q was opened", name)
			}
		}
		for _, name := range []string{"a", "out", "leak", "alias", "../outside/secret", "inside/file", "missing"} {
			if f, err := top.File(name); err == nil {
				f.Close()
				t.Errorf("the file %q was opened", name)
			}
		}
		if target, err := top.Readlink("leak"); target != "../outside/secret" || err != nil {
			t.Errorf("the link says %q, %v", target, err)
		}
	})
}

func TestOpenFolder(t *testing.T) {
	w, dir := open(t)
	put(t, filepath.Join(dir, "a", "b", "file"), "x")
	link(t, "a/b", filepath.Join(dir, "link"))
	link(t, "..", filepath.Join(dir, "up"))
	for _, tt := range []struct {
		name, path, want string
		above            []string
		linked           bool
		err              error
	}{
		{name: "the workspace", path: ".", want: "."},
		{name: "the workspace from inside", path: w.Mount(), want: "."},
		{name: "below", path: "a/b", want: "a/b", above: []string{w.Mount(), w.Mount() + "/a"}},
		{name: "and up again", path: "a/b/..", want: "a", above: []string{w.Mount()}},
		{name: "through a link", path: "link", want: "a/b", above: []string{w.Mount(), w.Mount() + "/a"}, linked: true},
		{name: "outside", path: "up", err: workspace.ErrOutside},
		{name: "a file", path: "a/b/file", err: workspace.ErrFileType},
		{name: "nothing", path: "none", err: os.ErrNotExist},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := w.OpenFolder(tt.path)
			if !errors.Is(err, tt.err) {
				t.Fatalf("%v, want %v", err, tt.err)
			}
			if err != nil {
				return
			}
			defer f.Close()
			if f.Name != tt.want || f.Linked != tt.linked {
				t.Errorf("it is %q, linked: %v", f.Name, f.Linked)
			}
			if diff := cmp.Diff(tt.above, f.Above); diff != "" {
				t.Errorf("above (-want +got):\n%s", diff)
			}
		})
	}
}
