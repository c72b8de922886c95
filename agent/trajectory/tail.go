package trajectory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// tailSize is how much of a record's end LastEvent looks at; a last line that
// is longer is an answer of a length that no listing shows.
const tailSize = 1 << 20

// LastEvent returns the last whole event of the session's record without
// reading all of it, which is enough to tell a run that ended from one that is
// going on or was killed. The error wraps io.EOF when there is none, or none
// in the last MiB. The Body is nil for an event of an unknown type.
func (s *Session) LastEvent() (Event, error) {
	f, err := os.Open(filepath.Join(s.Dir, eventsName))
	if err != nil {
		return Event{}, fmt.Errorf("opening the session's record: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Event{}, fmt.Errorf("reading the session's record: %w", err)
	}
	start := max(info.Size()-tailSize, 0)
	tail, err := io.ReadAll(io.NewSectionReader(f, start, tailSize))
	if err != nil {
		return Event{}, fmt.Errorf("reading the session's record: %w", err)
	}
	for len(tail) > 0 {
		end := bytes.LastIndexByte(tail, '\n')
		if end < 0 {
			break
		}
		tail = tail[:end] // what follows it is nothing, or a line that was cut
		line := tail[bytes.LastIndexByte(tail, '\n')+1:]
		var event Event
		if err := json.Unmarshal(line, &event); err == nil {
			return event, nil
		}
	}
	return Event{}, fmt.Errorf("finding the last event of the session's record: %w", io.EOF)
}
