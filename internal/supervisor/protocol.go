package supervisor

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Magic is the first thing a supervisor writes. An engine that could not start
// it writes its own error text in the same place, which cannot begin so.
const Magic = "\x00BJ1"

// MaxFrame bounds one message in bytes, the script that follows a Run not
// counted.
const MaxFrame = 4 << 20

// Trailer marks: one on each stream that the command has, `mark nonce body end`. Each is written
// in one piece small enough for a pipe to take whole (PIPE_BUF, pipe(7)). The
// body on stdout is sealed, see Seal, and empty on stderr.
const (
	TrailerMark = '\x1e'
	TrailerEnd  = '\x00'
	NonceLen    = 32
	MaxTrailer  = 4096
)

// An Op names what a request asks for.
type Op string

// The requests. A supervisor serves any number of Prepare, Kill, Count and
// Give requests and ends after one Run. While that runs it takes a Kill only,
// and only where it is alone.
const (
	Prepare Op = "prepare" // start a shell ahead for a Run of the same Setup
	Run     Op = "run"     // run one command
	Kill    Op = "kill"    // end the processes of other supervisors
	Count   Op = "count"   // read the counters
	Give    Op = "give"    // give files to their owner
)

// A Request is sent to a supervisor. Byte slices hold what need not be UTF-8.
type Request struct {
	Op    Op
	Seq   int // the answer has the same
	Setup Setup
	// Nonce (NonceLen bytes) marks the trailer of a Run.
	Nonce string `json:",omitempty"`
	// Key seals the trailer of a Run. A process inside can read the nonce from
	// a pipe once it is written, and this nowhere.
	Key []byte `json:",omitempty"`
	// Args is a Run without a shell.
	Args [][]byte `json:",omitempty"`
	// Alone says of a Run that no other supervisor waits which could end its
	// processes. This one then takes a Kill while the command runs, without
	// Victims, which its trailer answers. Not for a command with Stdin.
	Alone bool `json:",omitempty"`
	// ScriptLen is the number of script bytes that follow this frame.
	ScriptLen int `json:",omitempty"`
	// Victims are the supervisors whose processes a Kill ends, them included.
	Victims []Proc `json:",omitempty"`
	// Orphans makes a Kill also end processes whose supervisor is gone,
	// except those in Known. Where a victim is gone it does so unasked.
	Orphans bool   `json:",omitempty"`
	Known   []Proc `json:",omitempty"`
	// All makes a Kill end everything but supervisors that wait.
	All bool `json:",omitempty"`
	// Thaw makes a Kill let everything go on in the end, which also wakes
	// supervisors that a command has stopped.
	Thaw bool `json:",omitempty"`
	// Giving is what a Give does.
	Giving *Giving `json:",omitempty"`
	// Places makes a Count read the limits too, and the sizes of these.
	Places [][]byte `json:",omitempty"`
}

// A Setup is what a command starts from.
type Setup struct {
	Dir   []byte   // entered before the command starts
	Root  []byte   // entered instead when Dir cannot be
	Env   [][]byte // the whole environment
	Umask int
	Merge bool // stderr shares stdout's pipe
	Stdin bool // the command reads the supervisor's own stdin
}

// A Proc is one process. Start is its start time in clock ticks after boot,
// which together with PID names it for good; Session is its session id.
type Proc struct {
	PID     int
	Start   uint64
	Session int
	Name    string `json:",omitempty"`
}

// Counters are the sandbox's own, as far as they can be read; -1 is unknown.
type Counters struct {
	OOMKills     int64
	ForkFailures int64
	Pids         int64
	PidsMax      int64
}

// Full tells whether so few processes are free that no new exec could start.
// An engine needs about seven for a moment, a supervisor five.
func (c Counters) Full() bool {
	return c.PidsMax > 0 && c.Pids >= 0 && c.PidsMax-c.Pids < 16
}

// A Reply answers everything but a Run, and is sent once unasked when the
// supervisor is ready.
type Reply struct {
	Seq      int // of the request; 0 when the supervisor says that it is ready
	PID      int
	Start    uint64 // as in Proc
	Shell    string // empty when the image has none
	Counters Counters
	// Killed and Count tell what a Kill ended; Clean that a last look found
	// none of it alive.
	Killed []Proc `json:",omitempty"`
	Count  int    `json:",omitempty"`
	Clean  bool   `json:",omitempty"`
	// KnownLeft are those of a Kill's Known of which something is still there.
	KnownLeft []Proc `json:",omitempty"`
	// Dir is where the shell of the only victim was when a Kill found it.
	Dir []byte `json:",omitempty"`
	// Inode and Device are those of the setup's Root, in answer to a Count,
	// 0 for what is not there; NoEntry that it cannot be entered.
	Inode   uint64 `json:",omitempty"`
	Device  uint64 `json:",omitempty"`
	NoEntry bool   `json:",omitempty"`
	// Ids are whom the setup's Root belongs to, in answer to a Count.
	Ids *Ids `json:",omitempty"`
	// Now is the time by the clock that marks files, in nanoseconds of the
	// epoch, in answer to a Count.
	Now int64 `json:",omitempty"`
	// Given answers a Give.
	Given Given `json:",omitzero"`
	// Limits are those in force, in answer to a Count with Places.
	Limits *Limits `json:",omitempty"`
	// DirLost answers a Run: Dir could not be entered.
	DirLost bool `json:",omitempty"`
	// Error tells why a request could not be served.
	Error string `json:",omitempty"`
}

// A Trailer says how a command ended.
type Trailer struct {
	Code   int    // valid when Signal is 0
	Signal int    // the signal that ended the shell, from wait(2)
	Dir    []byte // where it ended; empty when unknown
	// DirGone is set when Dir is there no more, or is another one now.
	DirGone bool `json:",omitempty"`
	// Counters at the hand-over and at the end.
	Before, After Counters
	Left          []Proc `json:",omitempty"`
	LeftCount     int    `json:",omitempty"`
	// Cleared is set when the process limit was still full at the end, so
	// that what was left had to be ended.
	Cleared   bool   `json:",omitempty"`
	Killed    []Proc `json:",omitempty"`
	KillCount int    `json:",omitempty"`
	// Ended is set when a Kill came, see Request.Alone; Clean that a last look
	// found nothing alive of what was to be ended.
	Ended bool `json:",omitempty"`
	Clean bool `json:",omitempty"`
	// StartError tells why an argv could not be started, as an errno.
	StartError int `json:",omitempty"`
}

// ErrFrameSize is wrapped when a message is over MaxFrame; nothing was written
// then.
var ErrFrameSize = errors.New("message too long")

// WriteFrame writes one message in one Write.
func WriteFrame(w io.Writer, message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	if len(body) > MaxFrame {
		return fmt.Errorf("%w: %d bytes, and %d are allowed", ErrFrameSize, len(body), MaxFrame)
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body)))
	_, err = w.Write(append(frame, body...))
	return err
}

// ReadFrame reads one message. It reads not one byte beyond it.
func ReadFrame(r io.Reader, message any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > MaxFrame {
		return fmt.Errorf("%w: %d bytes, and %d are allowed", ErrFrameSize, size, MaxFrame)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return fmt.Errorf("reading a message: %w", err)
	}
	if err := json.Unmarshal(body, message); err != nil {
		return fmt.Errorf("decoding a message: %w", err)
	}
	return nil
}
