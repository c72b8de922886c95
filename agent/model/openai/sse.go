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
	name     string
	data     []byte
	document bool // it was not in a stream
}

// isEnd tells the marker that ends a stream.
func (e event) isEnd() bool {
	return strings.HasPrefix(strings.TrimSpace(string(e.data[:min(len(e.data), 16)])), "[DONE]")
}

// An eventReader splits a stream of server-sent events. Lines may end in LF,
// CRLF or CR, as the standard has it; comments and fields of no use are
// skipped. Errors that are not written as events are: llama.cpp had a field of
// that name, and some servers drop bare JSON into the stream. An event that the end of the stream cuts off before its blank line
// is still given out: many servers leave the blank line away at the end, and a
// cut event does not parse.
type eventReader struct {
	r      *bufio.Reader
	skipLF bool   // the line before ended in CR; an LF right after belongs to it
	held   string // a line that was read and belongs to the next event
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
		switch {
		case line == "":
			switch {
			case has:
				return e, nil
			case atEnd:
				return event{}, io.EOF
			}
			e = event{}
			continue
		case (line[0] == '{' || line[0] == '[') && has:
			r.held = line
			return e, nil
		case line[0] == '{' || line[0] == '[':
			return r.bare(line)
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			e.name = value
		case "error":
			e.name, e.data, has = "error", []byte(value), true
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

// bare returns the JSON that begins with a line and has no field around it: an
// object as far as it goes, a list up to an empty line.
func (r *eventReader) bare(line string) (event, error) {
	var e event
	var end braces
	for {
		e.data = append(append(e.data, line...), '\n')
		if end.add(line); (end.closed || end.over) && e.data[0] == '{' || e.isEnd() {
			return e, nil
		}
		if len(e.data) > maxEvent {
			return event{}, tooLong()
		}
		var err error
		if line, err = r.line(); err != nil && !errors.Is(err, io.EOF) {
			return event{}, err
		}
		if line == "" {
			return e, nil
		}
	}
}

// line returns the next line without its end. The last one, which has no end,
// comes with io.EOF only when it is empty.
func (r *eventReader) line() (string, error) {
	if held := r.held; held != "" {
		r.held = ""
		return held, nil
	}
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
