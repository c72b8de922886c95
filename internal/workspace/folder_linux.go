package workspace

import (
	"encoding/binary"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// An fdDirectory is a descriptor. A name in it is opened relative to it and
// never through a link (O_NOFOLLOW), which costs one call of the kernel where
// an os.Root takes several.
type fdDirectory struct {
	fd int
	// reading serialises the readers of names: they share the descriptor's
	// position.
	reading sync.Mutex
}

var _ directory = (*fdDirectory)(nil)

// openDirectory takes over root, unless it fails.
func openDirectory(root *os.Root) (directory, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd, dupErr := -1, error(nil)
	if err := raw.Control(func(open uintptr) {
		fd, dupErr = unix.FcntlInt(open, unix.F_DUPFD_CLOEXEC, 0)
	}); err != nil {
		return nil, err
	}
	if dupErr != nil {
		return nil, dupErr
	}
	root.Close() // it was for reading: there is nothing to lose
	return &fdDirectory{fd: fd}, nil
}

// direntBytes is how much of a folder is read at once.
const direntBytes = 32 << 10

func (d *fdDirectory) entries(most int) ([]Entry, bool, error) {
	d.reading.Lock()
	defer d.reading.Unlock()
	if _, err := unix.Seek(d.fd, 0, io.SeekStart); err != nil {
		return nil, false, err
	}
	var list []Entry
	buf := make([]byte, direntBytes)
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(d.fd, buf) })
		if err != nil || n <= 0 {
			return list, err == nil, err
		}
		before := len(list)
		list = parseEntries(list, buf[:n])
		for i := before; i < min(len(list), most); i++ {
			if list[i].Kind == kindUnknown {
				list[i].Kind = d.kind(list[i].Name)
			}
		}
		if len(list) > most {
			return list[:most], false, nil
		}
	}
}

// kindUnknown is the kind of an entry of a file system that does not tell it.
const kindUnknown Kind = 0xff

// parseEntries reads what getdents64 wrote: for each name an inode and an
// offset of 8 bytes each, the record's length of 2, a type, and the name up to
// a zero byte.
func parseEntries(list []Entry, buf []byte) []Entry {
	const header = 19
	names := string(buf) // one allocation for all names
	for at := 0; at+header <= len(buf); {
		size := int(binary.NativeEndian.Uint16(buf[at+16:]))
		if size < header || at+size > len(buf) {
			break
		}
		name := names[at+header : at+size]
		if end := strings.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		if name != "." && name != ".." && name != "" {
			list = append(list, Entry{name, direntKind(buf[at+18])})
		}
		at += size
	}
	return list
}

func direntKind(typ byte) Kind {
	switch typ {
	case unix.DT_REG:
		return KindFile
	case unix.DT_DIR:
		return KindFolder
	case unix.DT_LNK:
		return KindLink
	case unix.DT_UNKNOWN:
		return kindUnknown
	default:
		return KindSpecial
	}
}

func (d *fdDirectory) kind(name string) Kind {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return KindSpecial // it is gone
	}
	return modeKind(st.Mode)
}

func modeKind(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return KindFile
	case unix.S_IFDIR:
		return KindFolder
	case unix.S_IFLNK:
		return KindLink
	default:
		return KindSpecial
	}
}

func (d *fdDirectory) folder(name string) (directory, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, err
	}
	return &fdDirectory{fd: fd}, nil
}

func (d *fdDirectory) file(name string) (Content, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && modeKind(st.Mode) != KindFile {
		err = ErrFileType
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &fdFile{fd, st.Size}, nil
}

func (d *fdDirectory) modified(name string) (time.Time, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return time.Time{}, err
	}
	return time.Unix(st.Mtim.Unix()), nil
}

func (d *fdDirectory) readlink(name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(d.fd, name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

func (d *fdDirectory) close() error { return unix.Close(d.fd) }

// An fdFile is a descriptor of a regular file. Unlike an os.File it is not
// offered to the poller, which regular files are not for.
type fdFile struct {
	fd   int
	size int64
}

func (f *fdFile) Size() int64 { return f.size }

func (f *fdFile) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := retry(func() (int, error) { return unix.Read(f.fd, p) })
	switch {
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	default:
		return n, nil
	}
}

func (f *fdFile) Close() error { return unix.Close(f.fd) }

// retry calls again what a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}
