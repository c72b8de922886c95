package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// inForeground tells whether this process may read from a terminal.
func inForeground(terminal *os.File) bool {
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// discardInput drops what was typed and not read. A failure leaves it there.
func discardInput(terminal *os.File) {
	_ = unix.IoctlSetInt(int(terminal.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
