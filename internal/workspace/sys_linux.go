package workspace

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// maxAttribute is the most that the kernel takes as a value of an extended
// attribute, and as the list of their names, in bytes.
const maxAttribute = 64 << 10

// maxAttributes is the most that is taken over from one file, in bytes: some
// file systems set no bound.
const maxAttributes = 1 << 20

// accessList is the attribute that holds a file's access control list.
const accessList = "system.posix_acl_access"

// swapNames makes two names in a folder stand for each other's file, in one
// step. The error is errors.ErrUnsupported where the file system cannot.
func swapNames(dir *os.File, a, b string) error {
	return rename(dir, a, b, unix.RENAME_EXCHANGE)
}

// renameNew renames a file in a folder to a name that nothing has. The error
// is errors.ErrUnsupported where the file system cannot tell in one step.
func renameNew(dir *os.File, from, to string) error {
	return rename(dir, from, to, unix.RENAME_NOREPLACE)
}

func rename(dir *os.File, from, to string, flags uint) error {
	fd := int(dir.Fd())
	err := unix.Renameat2(fd, from, fd, to, flags)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported // the file system or the kernel does not know the flag
	}
	return err
}

// copyAttributes gives a file the extended attributes of another, and takes
// those away that it got from its folder. An attribute of the user's or an
// access list that cannot be kept is an error; what only the system may set is
// kept where the process may.
func copyAttributes(to, from *os.File) error {
	old, err := attributes(from)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, has := old[accessList]; !has {
		err := unix.Fremovexattr(int(to.Fd()), accessList)
		if err != nil && !errors.Is(err, unix.ENODATA) && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	for name, value := range old {
		err := unix.Fsetxattr(int(to.Fd()), name, value, 0)
		if err != nil && (strings.HasPrefix(name, "user.") || name == accessList) {
			return err
		}
	}
	return nil
}

// attributes are a file's extended attributes but for those that stand for its
// bytes, which a write takes away as well.
func attributes(f *os.File) (map[string][]byte, error) {
	buffer := make([]byte, maxAttribute)
	n, err := unix.Flistxattr(int(f.Fd()), buffer)
	if err != nil || n == 0 {
		return nil, err
	}
	found, size := make(map[string][]byte), 0
	for name := range strings.SplitSeq(strings.TrimSuffix(string(buffer[:n]), "\x00"), "\x00") {
		switch name {
		case "security.capability", "security.ima", "security.evm":
			continue
		}
		n, err := unix.Fgetxattr(int(f.Fd()), name, buffer)
		if err != nil {
			if strings.HasPrefix(name, "user.") || name == accessList {
				return nil, err
			}
			continue
		}
		if size += len(name) + n; size > maxAttributes {
			return nil, fmt.Errorf("they are over %d bytes", maxAttributes)
		}
		found[name] = append([]byte{}, buffer[:n]...)
	}
	return found, nil
}
