package ui

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/belljar/belljar/agent/trajectory"
)

// showText shows a piece of what the model says. Line ends at the beginning
// and the end of an answer are not shown.
func (r *Renderer) showText(piece string) {
	text := r.clean.Clean(piece)
	if !r.inText {
		text = strings.TrimLeft(text, "\n\t ")
		if text == "" {
			return
		}
		r.wait("")
		r.write("\n")
		r.inText = true
	}
	body := strings.TrimRight(text, "\n")
	if body != "" {
		r.write(r.wrapped(strings.Repeat("\n", r.newlines) + body))
		r.newlines = 0
	}
	r.newlines += len(text) - len(body)
}

// wrapped breaks the model's text at words, on a terminal.
func (r *Renderer) wrapped(text string) string {
	if !r.opts.Terminal.Terminal {
		return text
	}
	return r.wrap.add(text)
}

// endText ends an answer's text, if one is on the screen.
func (r *Renderer) endText() {
	if r.inText {
		r.write(r.wrap.end() + "\n")
	}
	r.inText, r.newlines, r.afterRun = false, 0, r.afterRun && !r.inText
	r.streamed.Reset()
	r.clean.Reset()
}

// message shows what somebody said, unless its text came in pieces before.
func (r *Renderer) message(event trajectory.Message) {
	if event.Role != "assistant" {
		r.userMessage(event)
		return
	}
	if r.opts.FinalElsewhere {
		r.held = event.Text
		return
	}
	if !sameWords(r.streamed.String(), event.Text) {
		// The pieces belong to an attempt that failed, or there were none.
		r.endText()
		r.showText(event.Text)
	}
	r.endText()
	r.spoken = strings.TrimSpace(event.Text)
	r.wait("")
}

// release shows an answer that was held back, now that it is known not to be
// the final one.
func (r *Renderer) release() {
	if r.held == "" {
		return
	}
	text := r.held
	r.held = ""
	r.showText(text)
	r.endText()
}

// end shows that the run is over. Only the final answer of a run that finished
// is printed elsewhere.
func (r *Renderer) end(event trajectory.End) {
	if event.Stop != "finished" {
		r.release()
	}
	r.held = ""
	r.endText()
	r.wait("")
}

// sameWords compares what came in pieces with what went on record, where
// escape sequences and control characters have been cleaned away.
func sameWords(a, b string) bool {
	visible := func(r rune) rune {
		if unicode.IsControl(r) || unicode.IsSpace(r) {
			return -1
		}
		return r
	}
	return strings.Map(visible, Sanitize(a)) == strings.Map(visible, Sanitize(b))
}

// userMessage shows what was said to the model.
func (r *Renderer) userMessage(event trajectory.Message) {
	r.endText()
	r.tasks++
	switch {
	case r.opts.Whole:
		r.write("\n")
		for _, line := range strings.Split(strings.TrimRight(Sanitize(event.Text), "\n"), "\n") {
			r.write(r.paint(cyan, "> ") + r.paint(bold, expandTabs(line)) + "\n")
		}
		r.afterRun = false
	case r.tasks > 1:
		r.line("", "> ", cyan, Line(event.Text), faint)
	}
	r.wait("waiting for the model")
}

// maxDenied bounds how many denied hosts are shown while a run goes on.
const maxDenied = 50

// network shows a decision. While a run goes on it is shown when something was
// denied, each once.
func (r *Renderer) network(event trajectory.Network) {
	text := fmt.Sprintf("network: %s:%d ", Line(event.Host), event.Port)
	if event.Allowed {
		text += "was allowed (" + Line(event.Rule) + ")"
	} else {
		text += "was denied: " + Line(event.Reason)
	}
	if !r.opts.Whole {
		if event.Allowed || r.denied[event] || len(r.denied) == maxDenied {
			return
		}
		if r.denied == nil {
			r.denied = map[trajectory.Network]bool{}
		}
		r.denied[event] = true
	}
	r.endText()
	r.erase()
	r.write(r.paint(amber, "belljar: ") + r.broken(text) + "\n")
	r.afterRun = false
}

// broken breaks a line that stands behind the name of belljar at words, on a
// terminal.
func (r *Renderer) broken(text string) string {
	const name = "belljar: "
	if !r.opts.Terminal.Terminal {
		return text
	}
	return strings.TrimPrefix(Wrap(name+text, r.width()), name)
}

// Question shows a question, with the cursor behind it, and returns what is
// called once it is answered or given up. What else is to be shown waits until
// then, so that the question is not covered. It calls ready when there is nothing
// left to do but to show it: afterwards somebody may have answered already.
func (r *Renderer) Question(text string, ready func()) (done func(answered bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endText()
	r.erase()
	return r.ask(text, ready)
}

// ask is Question on a line of its own. The lock is held.
func (r *Renderer) ask(text string, ready func()) (done func(answered bool)) {
	ready()
	r.write(r.paint(amber, Line(text)) + " ")
	r.asking = true
	if r.live != nil {
		r.live.paused = true
	}
	return func(answered bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !answered {
			_, _ = io.WriteString(r.out, "\n") // as in write
		}
		r.resume()
	}
}

// resume ends a question and shows what has come while it stood.
func (r *Renderer) resume() {
	if !r.asking {
		return
	}
	r.asking = false
	r.write(r.behind.String())
	r.behind.Reset()
	if r.live != nil {
		r.live.paused = false
	}
}

// notice shows a word from belljar about the run. It is not clipped, because
// it may say what to do.
func (r *Renderer) notice(event trajectory.Notice) {
	text := Line(event.Text)
	switch event.Kind {
	case trajectory.NoticeEmpty, trajectory.NoticeCut, trajectory.NoticeRepeat, trajectory.NoticeWritten:
		text = "told the model: " + text
	case trajectory.NoticeBadCall:
		if !r.opts.Whole { // what follows is what it wrote, and a schema
			first, _, _ := strings.Cut(event.Text, "\n")
			text = Line(first)
		}
		text = "told the model: " + text
	case trajectory.NoticeError:
		if !r.opts.Whole {
			return // the run's own last words say it
		}
	case trajectory.NoticeSummary:
		if !r.opts.Whole {
			return // long, and the notice after it says why it is there
		}
		text = "told the model: " + text
	}
	r.endText()
	r.erase()
	if event.Kind != trajectory.NoticeHostRisk { // holds a command to copy
		text = r.broken(text)
	}
	r.write(r.paint(amber, "belljar: ") + text + "\n")
	r.afterRun = false
}
