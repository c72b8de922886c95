//go:build !unix

package pool

// nonblock is of no use here: there are no named pipes among files.
const nonblock = 0
