package escape

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// attempts lists them all.
func attempts() []attempt {
	return slices.Concat(mountAttempts(), namespaceAttempts(), settingAttempts(), deviceAttempts(), kernelAttempts(),
		privilegeAttempts(), processAttempts(), socketAttempts(), fileAttempts())
}

// run makes the attempt. Denied is what the kernel answers when it looks at
// the caller's rights, before the arguments, or when the thing is not there;
// any other answer means that the rights were enough.
func (a attempt) run() Finding {
	err := a.try()
	f := Finding{Area: a.area, Name: a.name, Root: a.root, HostKernel: a.hostKernel}
	var errno unix.Errno
	switch {
	case err == nil:
		f.Detail = "it was let through"
	case errors.Is(err, errHeld):
		f.Denied, f.Detail = true, err.Error()
	case errors.As(err, &errno) && denial(errno):
		f.Denied, f.Detail = true, unix.ErrnoName(errno)
	case errors.As(err, &errno):
		f.Detail = fmt.Sprintf("the kernel went as far as %s", unix.ErrnoName(errno))
	default:
		f.Detail = err.Error()
	}
	return f
}

// errHeld is wrapped where no single call was denied, but the guarantee holds.
var errHeld = errors.New("held")

func denial(errno unix.Errno) bool {
	switch errno {
	case unix.EPERM, unix.EACCES, unix.EROFS, unix.ENOSYS, unix.ENOENT, unix.ENOTDIR, unix.ENXIO, unix.ENODEV,
		unix.EAFNOSUPPORT, unix.EPROTONOSUPPORT, unix.ESOCKTNOSUPPORT, unix.EOPNOTSUPP:
		return true
	}
	return false
}

// call makes a system call that is expected to be denied.
func call(number uintptr, args ...uintptr) error {
	var all [6]uintptr
	copy(all[:], args)
	_, _, errno := unix.Syscall6(number, all[0], all[1], all[2], all[3], all[4], all[5])
	if errno != 0 {
		return errno
	}
	return nil
}

// open opens a file and closes it again.
func open(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	unix.Close(fd)
	return nil
}
