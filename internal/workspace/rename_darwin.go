package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// swapNames makes two names in a folder stand for each other's file, in one
// step. The error is errors.ErrUnsupported where the file system cannot.
func swapNames(dir *os.File, a, b string) error {
	return rename(dir, a, b, unix.RENAME_SWAP)
}

// renameNew renames a file in a folder to a name that nothing has. The error
// is errors.ErrUnsupported where the file system cannot tell in one step.
func renameNew(dir *os.File, from, to string) error {
	return rename(dir, from, to, unix.RENAME_EXCL)
}

func rename(dir *os.File, from, to string, flags uint32) error {
	fd := int(dir.Fd())
	err := unix.RenameatxNp(fd, from, fd, to, flags)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return errors.ErrUnsupported
	}
	return err
}
