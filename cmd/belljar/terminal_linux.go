package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardInput drops what was typed and not read. A failure leaves it there.
func discardInput(terminal *os.File) {
	_ = unix.IoctlSetInt(int(terminal.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
