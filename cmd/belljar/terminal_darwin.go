package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardInput drops what was typed and not read. A failure leaves it there.
func discardInput(terminal *os.File) {
	_ = unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCFLUSH, unix.TCIFLUSH)
}
