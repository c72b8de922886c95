package pool

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/belljar/belljar/internal/filelock"
	"github.com/belljar/belljar/internal/oneline"
	"github.com/belljar/belljar/sandbox"
)

// What is in the folder of one sandbox. The lock is held as long as the folder
// is of use.
const (
	lockName      = "lock"
	workspaceName = "workspace"
)

// DefaultDir returns the folder for pools: belljar/pool in the user's cache
// folder. It need not exist.
func DefaultDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache folder: %w (set HOME or XDG_CACHE_HOME)", err)
	}
	return filepath.Join(base, "belljar", "pool"), nil
}

// makeDir makes the folder for the folders, which only its user may enter, and
// returns its path without links.
func makeDir(dir string) (string, error) {
	if dir == "" {
		var err error
		if dir, err = DefaultDir(); err != nil {
			return "", err
		}
	}
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.Chmod(dir, 0o700)
	}
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return "", fmt.Errorf("making the folder of a pool: %w", err)
	}
	return dir, nil
}

// A folder holds the workspace of one sandbox.
type folder struct {
	path      string
	workspace string
	lock      *os.File
}

// newFolder makes a folder with an empty workspace that belongs to the owner.
func newFolder(dir string, owner sandbox.Owner) (_ *folder, err error) {
	f := &folder{path: filepath.Join(dir, strings.ToLower(rand.Text()))}
	f.workspace = filepath.Join(f.path, workspaceName)
	defer func() {
		if err != nil {
			err = oneline.Join(fmt.Errorf("making a folder for a sandbox: %w", err), f.remove())
		}
	}()
	if err := os.Mkdir(f.path, 0o700); err != nil {
		return nil, err
	}
	if f.lock, err = os.OpenFile(filepath.Join(f.path, lockName), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	if locked, err := filelock.TryLock(f.lock); err != nil || !locked {
		return nil, fmt.Errorf("locking %s: %w", f.lock.Name(), oneline.Join(err, errHeld))
	}
	if err := os.Mkdir(f.workspace, 0o700); err != nil {
		return nil, err
	}
	return f, give(owner, func(uid, gid int) error { return os.Lchown(f.workspace, uid, gid) })
}

var errHeld = errors.New("another process holds it")

// give changes to whom a file belongs where the owner is somebody else.
func give(owner sandbox.Owner, chown func(uid, gid int) error) error {
	if uid := os.Getuid(); uid == -1 || uid == owner.UID && os.Getgid() == owner.GID {
		return nil
	}
	return chown(owner.UID, owner.GID)
}

// remove removes the folder and gives up the lock.
func (f *folder) remove() error { return removeFolder(f.path, f.lock) }

// removeFolder removes the folder of a sandbox, most of it while its lock is
// held; not every system removes a file that is open. lock may be nil.
func removeFolder(path string, lock *os.File) error {
	err := removeTree(filepath.Join(path, workspaceName))
	if lock != nil {
		err = oneline.Join(err, lock.Close())
	}
	return oneline.Join(err, removeTree(path))
}

// removeTree removes a folder with all it holds, also what its own modes keep
// from being removed. Nothing is followed.
func removeTree(path string) error {
	err := os.RemoveAll(path)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	root, openErr := os.OpenRoot(path)
	if openErr != nil {
		return err
	}
	defer root.Close()
	unlock(root, ".")
	return os.RemoveAll(path)
}

// unlock lets the user into a folder and all those below. What fails shows when
// the folder is removed.
func unlock(root *os.Root, name string) {
	_ = root.Chmod(name, 0o700)
	dir, err := root.Open(name)
	if err != nil {
		return
	}
	entries, _ := dir.ReadDir(-1)
	dir.Close()
	for _, entry := range entries {
		if entry.IsDir() {
			unlock(root, filepath.Join(name, entry.Name()))
		}
	}
}
