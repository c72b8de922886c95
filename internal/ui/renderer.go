package ui

import (
	"io"
	"strings"
	"sync"
	"time"

	"github.com/belljar/belljar/agent/trajectory"
)

// Options say how a Renderer shows a run.
type Options struct {
	// Terminal is what Out can show.
	Terminal Terminal
	// Width overrides the terminal's columns when it is not 0.
	Width int
	// Whole shows everything in full, the task, calls and results included, as
	// reading a finished run needs; otherwise the task is left to the header,
	// and of the others there is a beginning and an end.
	Whole bool
	// SessionDir is the folder that the outputs of a finished run lie in.
	SessionDir string
	// FinalElsewhere leaves the final answer of a run that finishes out,
	// because it is printed to the same place by somebody else.
	FinalElsewhere bool
}

// A Renderer shows the events of a run as text. It implements
// trajectory.Recorder and never fails: a screen that is gone does not stop a
// run. All methods are safe for concurrent use; the caller closes it.
type Renderer struct {
	opts Options

	mu   sync.Mutex
	out  io.Writer
	live *liveLine // nil where nothing is redrawn

	asking bool            // a question stands on the last line
	behind strings.Builder // what is shown once it is answered

	clean    Sanitizer
	wrap     wrapper
	streamed strings.Builder // what came of the current answer's text
	newlines int             // line ends held back until more text follows
	inText   bool            // the cursor stands in the model's text
	spoken   string          // the last answer that stands on the screen
	held     string          // an answer that may turn out to be the final one
	tasks    int             // user messages seen
	pending  []pendingCall
	several  bool                        // several calls were pending at once
	denied   map[trajectory.Network]bool // shown already
	afterRun bool                        // the last thing shown was a call or its result
	sub      *subScreen                  // of the sub-agent at work; nil is none
}

// A pendingCall is a call that has no result yet.
type pendingCall struct{ id, name, summary string }

var _ trajectory.Recorder = (*Renderer)(nil)

// NewRenderer makes a renderer that writes to out.
func NewRenderer(out io.Writer, opts Options) *Renderer {
	r := &Renderer{opts: opts, out: out}
	r.wrap.width = r.width
	if opts.Terminal.Live {
		r.live = newLiveLine(&r.mu, r.drawLive)
	}
	return r
}

// Close ends what is redrawn and leaves the cursor on a new line. It may be
// called more than once.
func (r *Renderer) Close() {
	r.mu.Lock()
	r.endText()
	r.erase()
	r.resume()
	live := r.live
	r.mu.Unlock()
	// Outside the lock, as the ticker may be waiting for it.
	if live != nil {
		live.stop()
	}
}

// Text shows a piece of the model's text as it comes.
func (r *Renderer) Text(piece string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opts.FinalElsewhere {
		return // it is not known yet whether it is the final answer
	}
	r.streamed.WriteString(piece)
	r.showText(piece)
}

// Record shows one event.
func (r *Renderer) Record(body trajectory.Body) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch event := body.(type) {
	case trajectory.Message, trajectory.ToolCall, trajectory.ToolResult:
		r.release()
	case trajectory.Notice:
		// These come between the final answer and the end.
		if event.Kind != trajectory.NoticeJobs && event.Kind != trajectory.NoticeHostRisk {
			r.release()
		}
	}
	switch event := body.(type) {
	case trajectory.Start:
		r.wait("waiting for the model")
	case trajectory.Message:
		r.message(event)
	case trajectory.ToolCall:
		r.call(event)
	case trajectory.ToolResult:
		r.result(event)
	case trajectory.Notice:
		r.notice(event)
	case trajectory.Network:
		r.network(event)
	case trajectory.Approval:
		r.approval(event)
	case trajectory.End:
		r.end(event)
	case trajectory.Nested:
		r.nested(event)
	}
	return nil
}

// Notice shows a word from belljar itself that is not part of the record.
func (r *Renderer) Notice(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notice(trajectory.Notice{Text: text})
}

// Spoke tells whether an answer is the last thing that the model said on this
// screen, so that it need not be shown once more.
func (r *Renderer) Spoke(answer string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.TrimSpace(answer) != "" && strings.TrimSpace(answer) == r.spoken
}

// width is the number of columns of a line now.
func (r *Renderer) width() int {
	if r.opts.Width > 0 {
		return r.opts.Width
	}
	return r.opts.Terminal.Width()
}

func (r *Renderer) paint(s style, text string) string {
	return paint(r.opts.Terminal.Color, s, text)
}

// write sends text to the screen. Its errors are dropped on purpose: the
// record is what must be complete, not the screen.
// What comes while a question stands waits, or it would cover the question.
func (r *Renderer) write(text string) {
	if r.asking {
		r.behind.WriteString(text)
		return
	}
	_, _ = io.WriteString(r.out, text)
}

// line writes one line: a marked beginning, and the rest painted. While a run
// goes on it may not be longer than the screen is wide and is clipped.
func (r *Renderer) line(indent, mark string, markStyle style, rest string, restStyle style) {
	r.erase()
	rest = expandTabs(rest)
	if !r.opts.Whole {
		rest = Clip(rest, max(r.width()-widths().StringWidth(indent+mark), 1))
	}
	if rest == "" {
		mark = strings.TrimRight(mark, " ")
	}
	r.write(indent + r.paint(markStyle, mark) + r.paint(restStyle, rest) + "\n")
}

// erase takes away the live line, if one is drawn.
func (r *Renderer) erase() {
	if r.live != nil && r.live.drawn {
		r.write("\r\x1b[K")
		r.live.drawn = false
	}
}

// drawLive draws the live line over itself. The lock is held.
func (r *Renderer) drawLive(label string, since time.Duration) {
	text := "  " + label + " " + strings.Replace(Duration(since.Truncate(time.Second)), ".0 s", " s", 1)
	r.write("\r" + r.paint(faint, Clip(text, r.width()-1)) + "\x1b[K")
}

// wait says what is being waited for from now on; "" is nothing.
func (r *Renderer) wait(label string) {
	if r.live == nil {
		return
	}
	r.erase()
	r.live.set(label)
}
