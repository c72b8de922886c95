//go:build unix

package pool

import "syscall"

const nonblock = syscall.O_NONBLOCK
