package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// errReaderGone is wrapped by a write to a stream of this process whose reader
// went away. It is told apart from the same error of a connection.
var errReaderGone = errors.New("the reader of the output went away")

// A stream writes to one of this process's own streams.
type stream struct{ io.Writer }

// Write marks the end of the reader.
func (s *stream) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		err = fmt.Errorf("%w: %w", errReaderGone, err)
	}
	return n, err
}

// out is where data goes.
func (a *app) out() io.Writer { return &stream{a.stdout} }

// streams are where a command's output goes. Where both lead to the same
// place they are one value, so that the order between the two stays exact.
func (a *app) streams() (stdout, stderr io.Writer) {
	out := &stream{a.stdout}
	if sameFile(a.stdout, a.stderr) {
		return out, out
	}
	return out, &stream{a.stderr}
}

// sameFile tells whether two writers lead to the same file, terminal or pipe.
func sameFile(a, b io.Writer) bool {
	first, ok := a.(*os.File)
	second, also := b.(*os.File)
	if !ok || !also {
		return false
	}
	x, errX := first.Stat()
	y, errY := second.Stat()
	return errX == nil && errY == nil && os.SameFile(x, y)
}
