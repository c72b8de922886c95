package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// Why a path was refused, for callers that branch on it. A missing file is told
// by [fs.ErrNotExist].
var (
	// ErrOutside is wrapped when a path or a link leads out of the workspace.
	ErrOutside = errors.New("outside the workspace")
	// ErrFileType is wrapped when what was found is of a kind that the call
	// does not take, such as a FIFO.
	ErrFileType = errors.New("wrong type of file")
	// ErrChanged is wrapped when a file changed while it was being changed here.
	ErrChanged = errors.New("changed meanwhile")
	// ErrTwice is wrapped when one file is to be changed twice in one step.
	ErrTwice = errors.New("named twice")
	// ErrPartly is wrapped when some of several changes are made, since they
	// could not be put back.
	ErrPartly = errors.New("partly done")
	// ErrReadOnly is wrapped when a path to write leads to a folder that is
	// mounted read-only.
	ErrReadOnly = errors.New("read-only")
	// ErrTooLarge is wrapped when a file is larger than the caller's bound.
	ErrTooLarge = errors.New("too large")
)

// A Refusal says why a path cannot be used, in words for whoever gave the
// path; it never holds a host path. Any other error of this package means that
// the workspace itself is of no further use.
type Refusal struct {
	// Path is the path as it was given.
	Path string
	// Why is what is wrong with it and what can be done.
	Why string
	err error
}

// Error is one line.
func (r *Refusal) Error() string { return strconv.Quote(r.Path) + ": " + r.Why }

// Unwrap gives the kind of refusal or the system's error.
func (r *Refusal) Unwrap() error { return r.err }

func refuse(name string, kind error, format string, args ...any) error {
	return &Refusal{Path: name, Why: fmt.Sprintf(format, args...), err: kind}
}

// failure turns an error of the file system into a Refusal of name, unless the
// workspace is closed. The names in the system's error are left out: they are
// those of single steps and would only puzzle.
func failure(name, doing string, err error) error {
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		return err
	case errors.Is(err, os.ErrClosed):
		return fmt.Errorf("%s %q: the workspace is closed: %w", doing, name, err)
	case errors.Is(err, fs.ErrNotExist):
		return refuse(name, fs.ErrNotExist, "does not exist")
	}
	return refuse(name, err, "%s: %s", doing, reason(err))
}

// reason is the innermost text of a file system error.
func reason(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// typeName names a kind of file in plain words.
func typeName(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a regular file"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO (named pipe)"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeCharDevice != 0:
		return "a character device"
	case mode&fs.ModeDevice != 0:
		return "a block device"
	default:
		return "a special file"
	}
}
