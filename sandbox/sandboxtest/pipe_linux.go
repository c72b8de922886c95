package sandboxtest

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belljar/belljar/sandbox"
)

// An allowance is what a command may still write, both streams together.
type allowance struct {
	mu        sync.Mutex
	limited   bool
	remaining int64
}

// take answers how many of n bytes may be delivered.
func (a *allowance) take(n int) int {
	if !a.limited {
		return n
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	granted := min(int64(n), a.remaining)
	a.remaining -= granted
	return int(granted)
}

// A stream carries one pipe's bytes to a writer.
type stream struct {
	r    *os.File
	w    io.Writer
	take func(int) int
	stop func(ending) // called when the command must not go on
	done chan struct{}
	over bool // nothing more is delivered; owned by copy until done is closed
}

// copy delivers bytes as they come, until the end, an interrupt or a stop. It
// closes done.
func (s *stream) copy() {
	defer close(s.done)
	buf := make([]byte, 32<<10)
	for !s.over {
		n, err := s.r.Read(buf)
		s.deliver(buf[:n])
		if err != nil {
			return
		}
	}
}

// deliver hands bytes over as far as they are allowed.
func (s *stream) deliver(p []byte) {
	granted := s.take(len(p))
	if granted > 0 {
		n, err := s.w.Write(p[:granted])
		if err == nil && n < granted {
			err = io.ErrShortWrite
		}
		if err != nil {
			s.over = true
			s.stop(ending{err: fmt.Errorf("writing a command's output: %w", err)})
			return
		}
	}
	if granted < len(p) {
		s.over = true
		s.stop(ending{status: sandbox.OutputLimit})
	}
}

// finish delivers what was in the pipe when the command ended. It does not
// wait for the end of the pipe, which a process left behind may hold open.
func (s *stream) finish() error {
	interrupt(s.r)
	<-s.done
	if s.over {
		return nil
	}
	waiting, err := buffered(s.r)
	if err != nil {
		return err
	}
	if err := s.r.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("reading the rest of a command's output: %w", err)
	}
	buf := make([]byte, 32<<10)
	for waiting > 0 && !s.over {
		// Nobody else reads from the pipe, so what is there does not go.
		n, err := s.r.Read(buf[:min(waiting, len(buf))])
		if err != nil {
			return fmt.Errorf("reading the rest of a command's output: %w", err)
		}
		s.deliver(buf[:n])
		waiting -= n
	}
	return nil
}

// buffered tells how many bytes wait in a pipe.
func buffered(pipe *os.File) (int, error) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("looking into a pipe: %w", err)
	}
	var n int
	var ioctlErr error
	err = conn.Control(func(fd uintptr) { n, ioctlErr = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	if err == nil {
		err = ioctlErr
	}
	if err != nil {
		return 0, fmt.Errorf("looking into a pipe: %w", err)
	}
	return n, nil
}

// interrupt makes a blocked read return.
func interrupt(f *os.File) {
	// Pipes always take a deadline; a closed one needs none.
	_ = f.SetReadDeadline(time.Unix(1, 0))
}

// discard reads a pipe to its end or an interrupt.
func discard(pipe *os.File) {
	_, _ = io.Copy(io.Discard, pipe) // the end of a pipe that nobody waits for
}
