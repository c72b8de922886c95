package openai

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// maxEvent bounds one event of a stream in bytes.
	maxEvent = 8 << 20
	// maxAnswer bounds one whole answer in bytes.
	maxAnswer = 16 << 20
)

// An event is one event of a stream, or one JSON document.
type event struct {
	name string
	data []byte
}

// isEnd tells the marker that ends a stream.
func (e event) isEnd() bool {
	return strings.HasPrefix(strings.TrimSpace(string(e.data[:min(len(e.data), 16)])), "[DONE]")
}

// An eventReader splits a stream of server-sent events. Lines may end in LF,
// CRLF or CR, as the standard has it; comments and fields of no use are
// skipped. An event that the end of the stream cuts off before its blank line
// is still given out: many servers leave the blank line away at the end, and a
// cut event does not parse.
type eventReader struct {
	r      *bufio.Reader
	skipLF bool // the line before ended in CR; an LF right after belongs to it
}

// next returns the next event that has data, or io.EOF.
func (r *eventReader) next() (event, error) {
	var e event
	has := false
	for {
		line, err := r.line()
		if err != nil && !errors.Is(err, io.EOF) {
			return event{}, err
		}
		atEnd := err != nil
		if line == "" {
			switch {
			case has:
				return e, nil
			case atEnd:
				return event{}, io.EOF
			}
			e = event{}
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			e.name = value
		case "data":
			if has {
				e.data = append(e.data, '\n')
			}
			e.data = append(e.data, value...)
			has = true
		}
		if len(e.data) > maxEvent {
			return event{}, tooLong()
		}
	}
}

// line returns the next line without its end. The last one, which has no end,
// comes with io.EOF only when it is empty.
func (r *eventReader) line() (string, error) {
	var line []byte
	for {
		b, err := r.r.ReadByte()
		if err != nil {
			if len(line) > 0 && errors.Is(err, io.EOF) {
				return string(line), nil
			}
			return "", err
		}
		after := r.skipLF
		r.skipLF = false
		switch {
		case b == '\n' && after && len(line) == 0:
			continue
		case b == '\n':
			return string(line), nil
		case b == '\r':
			r.skipLF = true
			return string(line), nil
		}
		if line = append(line, b); len(line) > maxEvent {
			return "", tooLong()
		}
	}
}

func tooLong() error { return fmt.Errorf("one event of the stream is longer than %d bytes", maxEvent) }
