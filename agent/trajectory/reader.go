package trajectory

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// A Reader reads a record. It forgives what a killed run or a newer belljar
// leaves, and says that it did: see Truncated and Skipped. Not safe for
// concurrent use.
type Reader struct {
	r         *bufio.Reader
	line      int
	truncated bool
	skipped   Skipped
	err       error // what every later Next returns
}

// Skipped counts what a Reader passed over because it did not know it.
type Skipped struct {
	// Events of an unknown type or version.
	Events int
	// Fields of known events.
	Fields int
}

// NewReader returns a Reader of the record in r. The caller closes r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReader(r)} }

// Next returns the next event that is known, and io.EOF after the last one.
// A line that is no event is an error that names it, unless it is the last
// one: then the run was cut while writing it, and Truncated says so.
func (r *Reader) Next() (Event, error) {
	for r.err == nil {
		line, whole, err := r.readLine()
		if err != nil {
			r.err = err
			break
		}
		if blank(line) {
			continue
		}
		var event Event
		if err := json.Unmarshal(line, &event); err != nil {
			if r.atEnd() {
				r.truncated = true
				r.err = io.EOF
				break
			}
			r.err = fmt.Errorf("line %d of the record is broken: %w", r.line, err)
			break
		}
		if !whole {
			r.truncated = true
		}
		if event.Body == nil {
			r.skipped.Events++
			continue
		}
		r.skipped.Fields += unknownFields(line, event.Body)
		return event, nil
	}
	return Event{}, r.err
}

// All yields the events that are left. A failure is yielded last, with a zero
// event.
func (r *Reader) All() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			event, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// Truncated reports whether the record stops in the middle of a line. It is
// settled when Next has returned io.EOF.
func (r *Reader) Truncated() bool { return r.truncated }

// Skipped counts what was passed over so far.
func (r *Reader) Skipped() Skipped { return r.skipped }

// readLine returns the next line without its end, and whether it had one.
func (r *Reader) readLine() (line []byte, whole bool, err error) {
	r.line++
	for {
		piece, err := r.r.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > maxLine:
			return nil, false, fmt.Errorf("line %d of the record is longer than %d bytes", r.line, maxLine)
		case err == nil:
			return line[:len(line)-1], true, nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, false, nil
		case errors.Is(err, io.EOF):
			return nil, false, io.EOF
		default:
			return nil, false, fmt.Errorf("reading the record: %w", err)
		}
	}
}

// atEnd reports whether nothing follows the line just read.
func (r *Reader) atEnd() bool {
	_, err := r.r.Peek(1)
	return errors.Is(err, io.EOF)
}
