package docker

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/belljar/belljar/internal/supervisor"
)

// The streams of an exec without a terminal come in frames: one byte for the
// stream, three of padding, four for the size (Engine API, "Attach to a
// container").
const (
	frameHeader  = 8
	streamStdout = 1
	streamStderr = 2
)

// frames splits a connection into the two streams. What it returns lies in its
// buffer, so that output is not copied on its way.
type frames struct {
	r     *bufio.Reader
	given int // bytes of the buffer that the last call returned
	left  int // bytes of the current frame not yet returned
	id    byte
}

// Sizes of buffers. An engine sends frames of up to 32 KiB of a command's
// output; what else comes is short.
const (
	outputBuffer = 64 << 10
	shortBuffer  = 4 << 10
)

func newFrames(r io.Reader, size int) *frames { return &frames{r: bufio.NewReaderSize(r, size)} }

// next returns some bytes of one stream. They are valid until the next call.
func (f *frames) next() (id byte, data []byte, err error) {
	_, _ = f.r.Discard(f.given) // in the buffer, so it cannot fail
	f.given = 0
	for f.left == 0 {
		var head [frameHeader]byte
		if _, err := io.ReadFull(f.r, head[:]); err != nil {
			return 0, nil, err
		}
		f.id, f.left = head[0], int(binary.BigEndian.Uint32(head[4:]))
		if f.id > streamStderr {
			return 0, nil, fmt.Errorf("the engine sent a frame for stream %d, which does not exist", f.id)
		}
	}
	if _, err := f.r.Peek(1); err != nil {
		return f.id, nil, err
	}
	f.given = min(f.r.Buffered(), f.left)
	f.left -= f.given
	data, err = f.r.Peek(f.given)
	return f.id, data, err
}

// A scanner takes one stream of a command and finds the trailer in it, however
// it is cut into pieces and whatever forged ones come before. Only bytes that
// may begin the mark are held back.
type scanner struct {
	mark  []byte
	held  []byte // a proper prefix of mark, or what follows a whole mark
	found bool   // the mark was seen; held is the body so far
	done  bool
	body  []byte
	// open takes the seal off a body, which a forged one has not.
	open func(sealed []byte) (body []byte, ok bool)
}

func newScanner(nonce string, open func([]byte) ([]byte, bool)) *scanner {
	return &scanner{mark: append([]byte{supervisor.TrailerMark}, nonce...), open: open}
}

// feed hands payload to emit and returns when the piece is used up. What
// follows a trailer is noise of processes that were left behind, and dropped.
func (s *scanner) feed(p []byte, emit func([]byte)) {
	if s.done {
		return
	}
	if !s.found && len(s.held) > 0 {
		// A mark may be split: look at the held bytes and enough of the new.
		joint := append(append([]byte(nil), s.held...), p[:min(len(p), len(s.mark))]...)
		i := bytes.Index(joint, s.mark)
		switch {
		case i >= 0 && i < len(s.held):
			emit(joint[:i])
			p = p[i+len(s.mark)-len(s.held):]
			s.held, s.found = nil, true
		case len(p) < len(s.mark) && i < 0:
			keep := tailPrefix(joint, s.mark)
			emit(joint[:len(joint)-keep])
			s.held = append([]byte(nil), joint[len(joint)-keep:]...)
			return
		default:
			emit(s.held)
			s.held = nil
		}
	}
	if !s.found {
		i := bytes.Index(p, s.mark)
		if i < 0 {
			keep := tailPrefix(p, s.mark)
			emit(p[:len(p)-keep])
			s.held = append(s.held[:0], p[len(p)-keep:]...)
			return
		}
		emit(p[:i])
		p, s.found, s.held = p[i+len(s.mark):], true, nil
	}
	end := bytes.IndexByte(p, supervisor.TrailerEnd)
	if end < 0 {
		// A trailer without an end is no trailer; bounded, it is just lost.
		s.held = append(s.held, p[:min(len(p), max(0, supervisor.MaxTrailer-len(s.held)))]...)
		return
	}
	body, ok := s.open(append(s.held, p[:end]...))
	s.held = nil
	if ok {
		s.body, s.done = body, true
		return
	}
	// Noise of a process that has read the nonce; the trailer may follow.
	s.found = false
	s.feed(p[end+1:], emit)
}

// flush hands over what was held back when the stream ends without a trailer.
func (s *scanner) flush(emit func([]byte)) {
	if !s.found && len(s.held) > 0 {
		emit(s.held)
		s.held = nil
	}
}

// tailPrefix returns the length of the longest end of p that begins mark.
func tailPrefix(p, mark []byte) int {
	for n := min(len(p), len(mark)-1); n > 0; n-- {
		if bytes.HasPrefix(mark, p[len(p)-n:]) {
			return n
		}
	}
	return 0
}

// A sink is where a command's output goes.
type sink struct {
	out, err  *scanner
	stdout    io.Writer
	stderr    io.Writer
	limit     int64 // 0: none
	written   int64
	over      chan struct{} // closed when the limit was passed
	failed    chan struct{} // closed when a Write failed; writeErr says how
	writeErr  error
	half      chan struct{} // closed when stdout's trailer was seen
	onceOver  sync.Once
	onceFail  sync.Once
	onceHalf  sync.Once
	discarded bool
	pieces    atomic.Int64 // how many came
	writing   atomic.Bool  // a Write of the caller's is under way
	detached  atomic.Bool  // nothing more may be written
}

func newSink(nonce string, key []byte, stdout, stderr io.Writer, limit int64) *sink {
	sealed := func(p []byte) ([]byte, bool) { return supervisor.Unseal(key, p) }
	plain := func(p []byte) ([]byte, bool) { return p, true }
	return &sink{
		out: newScanner(nonce, sealed), err: newScanner(nonce, plain), stdout: stdout, stderr: stderr, limit: limit,
		over: make(chan struct{}), failed: make(chan struct{}), half: make(chan struct{}),
	}
}

// merge says that the command has no stderr of its own.
func (s *sink) merge() { s.stderr, s.err.done = nil, true }

// write takes one piece and tells whether both trailers were seen.
func (s *sink) write(id byte, p []byte) bool {
	s.pieces.Add(1)
	if id == streamStderr {
		s.err.feed(p, func(b []byte) { s.emit(s.stderr, b) })
	} else {
		s.out.feed(p, func(b []byte) { s.emit(s.stdout, b) })
	}
	if s.out.done {
		s.onceHalf.Do(func() { close(s.half) })
	}
	return s.out.done && s.err.done
}

func (s *sink) flush() {
	s.out.flush(func(b []byte) { s.emit(s.stdout, b) })
	s.err.flush(func(b []byte) { s.emit(s.stderr, b) })
}

func (s *sink) emit(w io.Writer, p []byte) {
	if len(p) == 0 || s.discarded {
		return
	}
	over := false
	if s.limit > 0 && s.written+int64(len(p)) > s.limit {
		p, over = p[:s.limit-s.written], true
	}
	s.written += int64(len(p))
	s.writing.Store(true)
	defer s.writing.Store(false)
	if w != nil && len(p) > 0 && !s.detached.Load() {
		n, err := w.Write(p)
		if err == nil && n < len(p) {
			err = io.ErrShortWrite
		}
		if err != nil {
			s.writeErr, s.discarded = err, true
			s.onceFail.Do(func() { close(s.failed) })
		}
	}
	if over {
		s.discarded = true
		s.onceOver.Do(func() { close(s.over) })
	}
}

// detach stops the writing. When it returns no Write of the caller's begins
// any more; one that blocks is left behind after closeWait.
func (s *sink) detach() {
	s.detached.Store(true)
	for end := time.Now().Add(closeWait); s.writing.Load() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// trailer returns what the supervisor said, if it did.
func (s *sink) trailer() (supervisor.Trailer, bool) {
	var t supervisor.Trailer
	if !s.out.done || json.Unmarshal(s.out.body, &t) != nil {
		return t, false
	}
	return t, true
}

// missing says what of the output of a command with a trailer has not come. It
// is called when no piece comes any more.
func (s *sink) missing() string {
	if s.err.done {
		return ""
	}
	return "the end of its stderr did not come, so some of it may be missing"
}

// errText is returned when something that is no supervisor answered, with what
// it said: an engine tells a failed exec start in the output.
type errText struct{ text string }

func (e errText) Error() string { return e.text }

// A decoder takes the bytes of a supervisor before a command runs.
type decoder struct {
	buf   bytes.Buffer
	magic bool
}

// feed takes bytes; next returns the replies in them.
func (d *decoder) feed(p []byte) {
	if d.buf.Len() < 2*supervisor.MaxFrame {
		d.buf.Write(p)
	}
}

func (d *decoder) next() (reply supervisor.Reply, ok bool, err error) {
	if !d.magic {
		have := d.buf.Bytes()
		if !bytes.HasPrefix([]byte(supervisor.Magic), have[:min(len(have), len(supervisor.Magic))]) {
			return reply, false, errText{d.text()}
		}
		if len(have) < len(supervisor.Magic) {
			return reply, false, nil
		}
		d.buf.Next(len(supervisor.Magic))
		d.magic = true
	}
	have := d.buf.Bytes()
	if len(have) < 4 {
		return reply, false, nil
	}
	size := binary.BigEndian.Uint32(have)
	if size > supervisor.MaxFrame {
		return reply, false, errors.New("the supervisor's answer makes no sense")
	}
	if len(have) < 4+int(size) {
		return reply, false, nil
	}
	if err := supervisor.ReadFrame(&d.buf, &reply); err != nil {
		return reply, false, err
	}
	return reply, true, nil
}

// text is the first line of what came instead of a supervisor's answer.
func (d *decoder) text() string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(d.buf.Bytes()), []byte("\n"))
	return string(bytes.ToValidUTF8(line[:min(len(line), 300)], []byte("?")))
}
