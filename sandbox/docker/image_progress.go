package docker

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// progress tells a person what goes on: whole lines that stay, and the state of
// the moment, which a terminal redraws in place. It is safe for concurrent use.
// Failures to write are ignored: talk must not end the work.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	width int    // Columns of the terminal; 0: not a terminal.
	drawn bool   // A state is on the current line.
	step  string // The last step that was shown.
}

// newProgress writes to w; nil discards.
func newProgress(w io.Writer) *progress {
	if w == nil {
		w = io.Discard
	}
	p := &progress{w: w}
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.width = 80
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			p.width = width
		}
	}
	return p
}

// say writes one line that stays.
func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintln(p.w, oneLine(fmt.Sprintf(format, args...)))
}

// update shows the state of the moment: a step, and a detail that changes often.
// Without a terminal each new step is one line and details are left out.
func (p *progress) update(step, detail string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	step, detail = oneLine(step), oneLine(detail)
	changed := step != p.step
	p.step = step
	if p.width == 0 {
		if changed && step != "" {
			fmt.Fprintln(p.w, step)
		}
		return
	}
	text := []rune(strings.TrimSpace(step + "  " + detail))
	// A full last column makes some terminals wrap.
	if len(text) >= p.width {
		text = text[:p.width-1]
	}
	p.clear()
	fmt.Fprint(p.w, string(text))
	p.drawn = true
}

// close removes the state of the moment.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

// A message is one line of an engine's answer to a pull, build or import.
type message struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Stream   string `json:"stream"`
	Progress string `json:"progress"`
	Error    string `json:"error"`
}

// maxMessageSize bounds one message, in bytes.
const maxMessageSize = 1 << 20

// readMessages hands every message of an engine's answer to each, and returns
// the error that the answer ends with, if any: by then the status of the
// response itself has long been sent and says OK.
func readMessages(r io.Reader, each func(message)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxMessageSize)
	for lines.Scan() {
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("reading the engine's progress: %w", err)
		}
		if m.Error != "" {
			return errors.New(m.Error)
		}
		each(m)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading the engine's progress: %w", err)
	}
	return nil
}
