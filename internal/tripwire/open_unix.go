//go:build unix

package tripwire

import (
	"os"
	"syscall"
)

// openFlags keep the opening of a FIFO from waiting for a writer.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK
