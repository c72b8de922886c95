package workspace

import (
	"errors"
	"io/fs"
	"os"

	"github.com/belljar/belljar/sandbox"
)

// maxMade is how many folders one path may make, and maxAllMade all paths of a
// change together: each is held open until all is done.
const (
	maxMade    = 100
	maxAllMade = 500
)

// makeDir makes the folder name where the walk is; the next step enters it.
func (k *walk) makeDir(name string) error {
	if len(k.made) == maxMade {
		return refuse(k.given, fs.ErrInvalid, "more than %d folders would have to be made for it: make them first, or give a shorter path", maxMade)
	}
	err := makeFolder(k.dir, name, k.w.owner)
	switch {
	case err == nil:
		in, err := k.dir.OpenRoot(".")
		if err != nil {
			return err
		}
		k.made = append(k.made, folder{in, name})
		return nil
	case errors.Is(err, errSwapped):
		return err
	}
	return refuse(k.given, err, "making the folder %q: %s", name, reason(err))
}

// A folder is one that was made: a name in an open folder, owned.
type folder struct {
	in   *os.Root
	name string
}

// sync makes the folder's name last.
func (f folder) sync() {
	if in, err := f.in.Open("."); err == nil {
		_ = in.Sync() // not every file system can
		in.Close()
	}
}

// removeFolders takes away folders that were made on the way to a file which
// does not come, the last first. One that is not empty any more stays.
func removeFolders(made []folder) {
	for i := len(made) - 1; i >= 0; i-- {
		if info, err := made[i].in.Lstat(made[i].name); err == nil && info.IsDir() {
			_ = made[i].in.Remove(made[i].name)
		}
	}
}

func closeFolders(made []folder) {
	for _, f := range made {
		f.in.Close()
	}
}

// makeFolder makes a folder of the owner in dir. The error is errSwapped when
// something else is or comes in its place.
func makeFolder(dir *os.Root, name string, owner sandbox.Owner) error {
	err := dir.Mkdir(name, 0o777&^fs.FileMode(owner.Umask))
	if errors.Is(err, fs.ErrExist) {
		return errSwapped
	}
	if err != nil {
		return err
	}
	made, err := dir.OpenRoot(name + "/.")
	if err != nil {
		return errSwapped
	}
	defer made.Close()
	f, err := made.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return give(dir, f, owner)
}

// give makes the owner the owner of f, which was just made in dir. Where the
// set-group-id bit of dir is set the group was inherited and stays.
func give(dir *os.Root, f *os.File, owner sandbox.Owner) error {
	info, err := dir.Stat(".")
	if err != nil {
		return err
	}
	return giveTo(f, owner, info.Mode()&fs.ModeSetgid != 0)
}
