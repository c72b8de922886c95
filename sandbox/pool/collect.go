package pool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/belljar/belljar/internal/filelock"
)

// makeTime is how long a folder that nobody holds is left alone: a process that
// makes one takes its lock a moment later.
const makeTime = time.Minute

// A Leftover is the folder of a sandbox, and whether it is of use.
type Leftover struct {
	Path string
	// Stale is set where no process holds the folder, and Why says so.
	Stale bool
	Why   string
	// Err is why it could not be looked at or removed.
	Err error
}

// Collect looks at the folders in a folder of pools, removes those that no
// process holds unless dry is set, and tells about each. A folder that is
// missing has none. It may run beside pools and other calls.
func Collect(dir string, dry bool) ([]Leftover, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the folders of pools: %w", err)
	}
	var all []Leftover
	for _, entry := range entries {
		if l := collect(filepath.Join(dir, entry.Name()), dry); !errors.Is(l.Err, fs.ErrNotExist) {
			all = append(all, l)
		}
	}
	return all, nil
}

// collect deals with one folder. Its lock is held until it is removed.
func collect(path string, dry bool) Leftover {
	l := Leftover{Path: path}
	info, err := os.Lstat(path)
	if err != nil {
		l.Err = err
		return l
	}
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR, 0)
	held := false
	switch {
	case err == nil:
		defer lock.Close() // again, where it was removed
		var free bool
		if free, l.Err = filelock.TryLock(lock); l.Err != nil {
			return l
		}
		held = !free
	case !errors.Is(err, fs.ErrNotExist):
		l.Err = err
		return l
	}
	switch {
	case held:
		l.Why = "a process holds it for a sandbox"
		return l
	case time.Since(info.ModTime()) < makeTime:
		l.Why = "it was made a moment ago"
		return l
	}
	l.Stale, l.Why = true, "no process holds it"
	if !dry {
		l.Err = removeFolder(path, lock)
	}
	return l
}
