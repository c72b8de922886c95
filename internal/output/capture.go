package output

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

const (
	// MinLimit is the least limit of a Capture.
	MinLimit = 200
	// markerRoom is kept free for the line that says what is missing.
	markerRoom = 80
)

// A Capture is an [io.Writer] that cleans what is written to it and keeps a
// head and a tail of it. It is safe for concurrent use. Its memory is a small
// multiple of its limit, however much is written and however long a line is.
type Capture struct {
	mu    sync.Mutex
	limit int
	clean cleaner
	lines lineSink
}

// lineSink gathers the current line apart, because a redraw can still take all
// of it back.
type lineSink struct{ all, line bounded }

func (s *lineSink) text(p []byte) {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		s.line.put(p[:i])
		s.all.add(&s.line)
		s.line.reset()
		// Lines that came whole can no longer be redrawn.
		end := bytes.LastIndexByte(p, '\n') + 1
		s.all.put(p[i:end])
		p = p[end:]
	}
	s.line.put(p)
}

func (s *lineSink) clear() { s.line.reset() }

// NewCapture makes a Capture whose text has at most limit characters, the line
// that says what is missing included. A limit under [MinLimit] is raised to it.
func NewCapture(limit int) *Capture {
	limit = max(limit, MinLimit)
	headMax := limit * 2 / 5
	b := bounded{headMax: headMax, tailMax: limit - headMax}
	return &Capture{limit: limit, lines: lineSink{all: b, line: b}}
}

// Write takes the next bytes. It never fails.
func (c *Capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clean.write(p, &c.lines)
	return len(p), nil
}

// A Text is what a Capture kept.
type Text struct {
	// Text is the cleaned text. Where a middle is missing, a line of its own
	// says so.
	Text string
	// DroppedBytes and DroppedLines count what is missing of the cleaned
	// text. A line that was cut is not counted as missing.
	DroppedBytes, DroppedLines int64
}

// String is the text kept so far.
func (c *Capture) String() string { return c.Text().Text }

// Text tells what was kept so far. Writing may go on afterwards.
func (c *Capture) Text() Text {
	c.mu.Lock()
	lines := lineSink{all: c.lines.all.clone(), line: c.lines.line.clone()}
	clean := c.clean
	c.mu.Unlock()
	clean.flush(&lines)
	return lines.kept(c.limit)
}

// Take tells what came since the last Take and forgets it. A redraw that comes
// later cannot take it back. The beginning of a character waits for its rest,
// which only Text shows without it.
func (c *Capture) Take() Text {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := c.lines.kept(c.limit)
	c.lines.all.reset()
	c.lines.line.reset()
	return text
}

// kept joins the current line to the rest and tells what there is.
func (s *lineSink) kept(limit int) Text {
	s.all.add(&s.line)
	if s.all.chars <= int64(limit) {
		return Text{Text: string(s.all.head) + string(s.all.tail)}
	}
	return cut(&s.all, limit-markerRoom)
}

// cut leaves a head and a tail of room characters together, whole lines where
// that costs less than half of the one or the other.
func cut(all *bounded, room int) Text {
	headMax := room * 2 / 5
	head := all.head[:offset(all.head, headMax)]
	tail := last(all.tail, all.tailLen, room-headMax)
	if i := bytes.LastIndexByte(head, '\n') + 1; i > len(head)/2 {
		head = head[:i]
	}
	if i := bytes.IndexByte(tail, '\n') + 1; i < len(tail)/2 {
		tail = tail[i:]
	}
	t := Text{
		DroppedBytes: all.bytes - int64(len(head)+len(tail)),
		DroppedLines: all.lines - int64(bytes.Count(head, []byte{'\n'})+bytes.Count(tail, []byte{'\n'})),
	}
	var b strings.Builder
	b.Write(head)
	if !bytes.HasSuffix(head, []byte{'\n'}) {
		b.WriteByte('\n')
	}
	if t.DroppedLines == 0 {
		fmt.Fprintf(&b, "[… %s of a line omitted …]\n", Size(t.DroppedBytes))
	} else {
		fmt.Fprintf(&b, "[… %s (%s) omitted …]\n", Count(t.DroppedLines, "line"), Size(t.DroppedBytes))
	}
	b.Write(tail)
	t.Text = b.String()
	return t
}
