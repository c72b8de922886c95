package workspace

import (
	"errors"
	"os"
)

// WithoutSwaps makes w as on a file system that cannot swap names.
func WithoutSwaps(w *Workspace) {
	w.renamer = renamer{
		swap: func(*os.File, string, string) error { return errors.ErrUnsupported },
		new:  func(*os.File, string, string) error { return errors.ErrUnsupported },
		link: (*os.Root).Link,
	}
}

// WithoutLinks makes w as on a file system that has no second names of files
// either.
func WithoutLinks(w *Workspace) {
	WithoutSwaps(w)
	w.renamer.link = func(*os.Root, string, string) error { return errors.ErrUnsupported }
}

// BeforePut calls do before the file of each change is put in place, with how
// many have been. An error of do fails that step.
func BeforePut(w *Workspace, do func(n int) error) {
	n, old := 0, w.renamer
	step := func(put func(*os.File, string, string) error) func(*os.File, string, string) error {
		return func(dir *os.File, from, to string) error {
			n++
			if err := do(n - 1); err != nil {
				return err
			}
			return put(dir, from, to)
		}
	}
	w.renamer = renamer{swap: step(old.swap), new: step(old.new), link: old.link}
}
