package trajectory

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// maxLine bounds one event in bytes, newline included: nothing that a tool or
// a model may produce comes near it, and a reader has to hold a line whole.
const maxLine = 64 << 20

// A File is what a Writer appends to; an *os.File opened for appending is one.
type File interface {
	io.WriteCloser
	// Sync returns when everything written is on the disk.
	Sync() error
}

// A Writer appends events to a file, one line each, numbered from 1. Each
// event is one write, so a run that is killed leaves whole lines, except for
// the last one where the disk was full or the machine stopped. After a failed
// write every later one fails too, because what the file then holds is not
// known. Safe for concurrent use.
type Writer struct {
	mu   sync.Mutex
	file File
	seq  int
	err  error // the first failure, or that the writer is closed
}

var _ Recorder = (*Writer)(nil)

// NewWriter returns a Writer that appends to file and closes it in Close.
func NewWriter(file File) *Writer { return &Writer{file: file} }

// Record appends one event and returns when the kernel has it; for messages
// and the end of a run, when the disk has it.
func (w *Writer) Record(body Body) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	line, err := encode(Event{V: Version, Time: time.Now().UTC(), Seq: w.seq + 1, Body: body})
	if err != nil {
		return w.fail(err)
	}
	line = append(line, '\n')
	if len(line) > maxLine {
		return w.fail(fmt.Errorf("a %s event has %d bytes, and %d is the most", body.eventType(), len(line), maxLine))
	}
	n, err := w.file.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return w.fail(err)
	}
	w.seq++
	switch inner, _ := Unnest(body); inner.(type) {
	case Message, End:
		if err := w.file.Sync(); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// fail remembers the first failure. The lock is held.
func (w *Writer) fail(err error) error {
	w.err = fmt.Errorf("writing the record: %w", err)
	return w.err
}

// Close puts everything on the disk and closes the file. A second call does
// nothing and returns nil. Record fails afterwards.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil
	}
	file := w.file
	w.file = nil
	if w.err == nil {
		w.err = fmt.Errorf("writing the record: %w", io.ErrClosedPipe)
	}
	err := file.Sync()
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("closing the record: %w", err)
	}
	return nil
}
