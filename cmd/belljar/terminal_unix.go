//go:build linux || darwin

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lookTime is how long a wait for input goes on before the context is looked
// at again.
const lookTime = 100 * time.Millisecond

// inForeground tells whether this process may read from a terminal.
func inForeground(terminal *os.File) bool {
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// readLine reads one line from a terminal, when one is there and this process is
// in the foreground: a read in the background would stop it. The error is the
// end of the input or that of the context.
func readLine(ctx context.Context, terminal *os.File) (string, error) {
	fd, buf := int(terminal.Fd()), make([]byte, 4096) // a terminal holds no longer line
	for ctx.Err() == nil {
		// It is no poll, which knows no terminals on macOS.
		var ready unix.FdSet
		ready.Set(fd)
		wait := unix.NsecToTimeval(lookTime.Nanoseconds())
		n, err := unix.Select(fd+1, &ready, nil, nil, &wait)
		switch {
		case errors.Is(err, unix.EINTR) || err == nil && n == 0:
			continue
		case err != nil:
			return "", err
		case !inForeground(terminal):
			time.Sleep(lookTime) // what is typed is for others
			continue
		}
		switch n, err = unix.Read(fd, buf); {
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN):
		case err != nil:
			return "", err
		case n == 0:
			return "", io.EOF
		default:
			return string(buf[:n]), nil
		}
	}
	return "", ctx.Err()
}
