package workspace_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belljar/belljar/internal/workspace"
	"github.com/google/go-cmp/cmp"
)

// appendTo writes behind the end of a file, in place.
func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// replace puts a new file in the place of one.
func replace(t *testing.T, path, content string) {
	t.Helper()
	put(t, path+".next", content)
	if err := os.Rename(path+".next", path); err != nil {
		t.Fatal(err)
	}
}

// temps are the names that a change has made for itself.
func temps(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, ".belljar-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// both writes two files.
func both(c *workspace.Changes) error {
	for _, name := range []string{"a", "b"} {
		target, err := c.Place(name)
		if err != nil {
			return err
		}
		target.Write([]byte("new " + name + "\n"))
	}
	return nil
}

// What something else writes to a file between its change and the undoing of
// it is not lost, and the refusal says what is left of the change.
func TestUndoKeepsWhatOthersWrote(t *testing.T) {
	for name, way := range ways() {
		for _, existed := range []bool{true, false} {
			for did, do := range map[string]func(t *testing.T, path string){
				"appended": func(t *testing.T, path string) { appendTo(t, path, "precious\n") },
				"replaced": func(t *testing.T, path string) { replace(t, path, "precious\n") },
			} {
				t.Run(fmt.Sprintf("%s, %s, existed %v", name, did, existed), func(t *testing.T) {
					w, dir := open(t)
					if existed {
						put(t, filepath.Join(dir, "a"), "old a\n")
					}
					put(t, filepath.Join(dir, "b"), "old b\n")
					way(w)
					done := false
					workspace.BeforePut(w, func(int) error {
						if got, _ := os.ReadFile(filepath.Join(dir, "a")); string(got) == "new a\n" && !done { // it is in place, b is not
							done = true
							do(t, filepath.Join(dir, "a"))
							replace(t, filepath.Join(dir, "b"), "other b\n")
						}
						return nil
					})
					err := w.Change(both)
					if !errors.Is(err, workspace.ErrPartly) || !errors.Is(err, workspace.ErrChanged) || !strings.Contains(err.Error(), `"a" was changed by something else`) {
						t.Errorf("Change = %v", err)
					}
					if got := read(t, filepath.Join(dir, "a")); !strings.HasSuffix(got, "precious\n") {
						t.Errorf("a holds %q", got)
					}
					left := slices.Collect(maps.Values(files(t, dir)))
					if existed && !slices.Contains(left, "old a\n") {
						t.Errorf("the old content is lost: %q", left)
					}
				})
			}
		}
	}
}

// A place that is taken again and again while it is given back loses nothing.
func TestGivingBackLosesNothing(t *testing.T) {
	for name, again := range map[string]func(t *testing.T, path string, n int){
		"appended": func(t *testing.T, path string, n int) { appendTo(t, path, fmt.Sprint("precious ", n)) },
		"replaced": func(t *testing.T, path string, n int) { replace(t, path, fmt.Sprint("precious ", n)) },
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := open(t)
			path := filepath.Join(dir, "b")
			put(t, path, "old")
			last := 0
			workspace.BeforePut(w, func(n int) error {
				if last = n; n == 0 {
					replace(t, path, "other")
				} else {
					again(t, path, n)
				}
				return nil
			})
			_, err := writeFile(w, "b", []byte("new"))
			if !errors.Is(err, workspace.ErrChanged) || last == 0 {
				t.Fatalf("%v, after %d steps", err, last)
			}
			found := false
			for file, content := range files(t, dir) {
				if strings.HasSuffix(content, fmt.Sprint("precious ", last)) {
					found = file == "b" || strings.Contains(err.Error(), file)
				}
			}
			if !found {
				t.Errorf("the last change is lost: %q, %v", files(t, dir), err)
			}
		})
	}
}

// The sandbox can put something else in the way under the name that a new file
// has before it is in place: that is no success, and nothing old is lost.
func TestChangeSeesAnotherFileInItsPlace(t *testing.T) {
	for name, way := range ways() {
		for _, existed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, existed %v", name, existed), func(t *testing.T) {
				w, dir := open(t)
				path := filepath.Join(dir, "b")
				if existed {
					put(t, path, "old")
				}
				way(w)
				workspace.BeforePut(w, func(n int) error {
					for _, temp := range temps(t, dir) {
						if n == 0 {
							if err := errors.Join(os.Remove(temp), os.Symlink("/etc/hostname", temp)); err != nil {
								return err
							}
						}
					}
					return nil
				})
				_, err := writeFile(w, "b", []byte("new"))
				if !errors.Is(err, workspace.ErrChanged) {
					t.Errorf("%v, want ErrChanged", err)
				}
				if left := files(t, dir); existed && !slices.Contains(slices.Collect(maps.Values(left)), "old") {
					t.Errorf("the old content is lost: %q", left)
				}
			})
		}
	}
}

// A failure of the last step leaves no second name behind.
func TestPlainChangeLeavesNoName(t *testing.T) {
	w, dir := open(t)
	put(t, filepath.Join(dir, "b"), "old")
	workspace.WithoutSwaps(w)
	workspace.BeforePut(w, func(int) error {
		for _, temp := range temps(t, dir) {
			if err := os.Remove(temp); err != nil {
				return err
			}
		}
		return nil
	})
	if _, err := writeFile(w, "b", []byte("new")); err == nil {
		t.Error("a new file that was gone is said to be in place")
	}
	if diff := cmp.Diff(map[string]string{"b": "old"}, files(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// A new file and a folder of its name do not go together.
func TestChangeOfAFileAndBelowIt(t *testing.T) {
	w, dir := open(t)
	err := w.Change(func(c *workspace.Changes) error {
		for _, name := range []string{"d", "d/e"} {
			target, err := c.Place(name)
			if err != nil {
				return err
			}
			target.Write(nil)
		}
		return nil
	})
	if !errors.Is(err, workspace.ErrTwice) || !strings.Contains(err.Error(), "cannot be a folder as well") {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "d")); err == nil {
		t.Error("something is left")
	}
}

func TestChangeMakesSoManyFolders(t *testing.T) {
	w, dir := open(t)
	if _, err := writeFile(w, strings.Repeat("d/", 100)+"f", nil); err != nil {
		t.Error(err)
	}
	_, err := writeFile(w, strings.Repeat("e/", 101)+"f", nil)
	if err == nil || !strings.Contains(err.Error(), "more than 100 folders") {
		t.Errorf("%v", err)
	}
	if err := w.Change(func(c *workspace.Changes) error {
		for i := range 6 {
			if _, err := c.Place(fmt.Sprint("e", i, strings.Repeat("/d", 90), "/f")); err != nil {
				return err
			}
		}
		return nil
	}); err == nil || !strings.Contains(err.Error(), "more than 500 folders") {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"e", "e0", "e5"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("the folder %s is left", name)
		}
	}
}
