//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/belljar/belljar/sandbox"
)

// openNonblock keeps the opening of a FIFO from waiting for a writer.
const openNonblock = syscall.O_NONBLOCK

// giveTo gives the new file f to the owner when the process is root, who would
// own it otherwise. Something that is not root's is not what was just made.
func giveTo(f *os.File, owner sandbox.Owner, keepGroup bool) error {
	if os.Geteuid() != 0 || owner.UID == 0 {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if uid, _, ok := uidGid(info); !ok || uid != 0 {
		return nil
	}
	gid := owner.GID
	if keepGroup {
		gid = -1
	}
	err = f.Chown(owner.UID, gid)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
		return nil // root is refused only where the file system has no owners
	}
	return err
}

// keepOwner gives f the owner and group of the file that it will replace, as
// far as the process may.
func keepOwner(f *os.File, old fs.FileInfo) {
	uid, gid, ok := uidGid(old)
	if !ok {
		return
	}
	if err := f.Chown(uid, gid); err != nil {
		// A member of the group may still keep the group; when that is
		// refused too the file simply belongs to who wrote it.
		_ = f.Chown(-1, gid)
	}
}

// errReadOnly is the error of a file system that cannot be written.
const errReadOnly = syscall.EROFS

// linkCount is how many names a file has.
func linkCount(info fs.FileInfo) int {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return int(st.Nlink)
}

// idOf tells files apart by the numbers of their device and inode.
func idOf(info fs.FileInfo) FileID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return FileID{}
	}
	return FileID{dev: uint64(st.Dev), ino: uint64(st.Ino)}
}

// uidGid are the numbers of a file's owner and group.
func uidGid(info fs.FileInfo) (uid, gid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}
