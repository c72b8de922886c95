package ui

import (
	"strconv"
	"strings"
	"time"
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
	if !sameWords(r.streamed.String(), event.Text) {
		// The pieces belong to an attempt that failed, or there were none.
		r.endText()
		r.showText(event.Text)
	}
	r.endText()
	r.spoken = strings.TrimSpace(event.Text)
	r.wait("")
}

// sameWords compares what came in pieces with what went on record, where
// control characters have been cleaned away.
func sameWords(a, b string) bool {
	visible := func(r rune) rune {
		if unicode.IsControl(r) || unicode.IsSpace(r) {
			return -1
		}
		return r
	}
	return strings.Map(visible, a) == strings.Map(visible, b)
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

// call shows that a tool is asked for.
func (r *Renderer) call(event trajectory.ToolCall) {
	r.endText()
	about := summary(event.Arguments)
	name := Line(event.Name)
	if !r.afterRun {
		r.erase()
		r.write("\n")
	}
	r.line("", "● "+Clip(name, r.width()/2), cyan, spaced(about), "")
	r.pending = append(r.pending, pendingCall{event.CallID, name, about})
	r.several = r.several || len(r.pending) > 1
	r.afterRun = true
	r.wait("running")
}

// spaced sets a text off from the name before it.
func spaced(text string) string {
	if text == "" {
		return ""
	}
	return "  " + text
}

// result shows how a call ended and the beginning and end of what it gave.
func (r *Renderer) result(event trajectory.ToolResult) {
	r.endText()
	ending, ok := resultEnding(event)
	mark, markStyle := "✓ ", green
	if !ok {
		mark, markStyle = "✗ ", red
	}
	text := ending + " · " + Duration(time.Duration(event.DurationMS)*time.Millisecond)
	if about := r.settle(event.CallID); about != "" {
		text += " · " + about
	}
	r.line("  ", mark, markStyle, text, faint)
	for _, line := range preview(event.Content) {
		r.line("  ", "│ ", faint, line, "")
	}
	r.afterRun = true
	if len(r.pending) > 0 {
		r.wait("running")
	} else {
		r.wait("waiting for the model")
	}
}

// settle takes a call from the pending ones. Where several calls were asked
// for at once, a result does not stand under its call, so what it answers is
// returned to be said.
func (r *Renderer) settle(id string) string {
	about := ""
	for i, call := range r.pending {
		if call.id != id {
			continue
		}
		if r.several {
			about = call.name + spaced(call.summary)
		}
		r.pending = append(r.pending[:i], r.pending[i+1:]...)
		r.several = r.several && len(r.pending) > 0
		break
	}
	return about
}

// resultEnding says in a word or two how a call ended, and whether well.
func resultEnding(event trajectory.ToolResult) (string, bool) {
	status := Line(event.Status)
	switch {
	case event.ExitCode != nil && (status == "" || status == "exited"):
		return "exit " + strconv.Itoa(*event.ExitCode), *event.ExitCode == 0 && !event.IsError
	case status != "" && status != "exited" && status != "ok":
		return strings.ReplaceAll(status, "_", " "), false
	case event.IsError:
		return "error", false
	default:
		return "ok", true
	}
}

// preview picks the lines of a result that are shown: the first and the last,
// because an answer often ends with what matters.
func preview(parts []trajectory.Part) []string {
	var lines []string
	for _, part := range parts {
		if part.Type != "text" && part.Text == "" {
			lines = append(lines, "["+Line(part.Type+" "+part.MediaType)+", "+Size(int64(len(part.Data)))+"]")
			continue
		}
		text := strings.TrimRight(Sanitize(part.Text), "\n\t ")
		if text != "" {
			lines = append(lines, strings.Split(text, "\n")...)
		}
	}
	if len(lines) <= previewLines {
		return lines
	}
	const head = previewLines / 2
	const tail = previewLines - head - 1
	short := append([]string{}, lines[:head]...)
	short = append(short, "… "+Plural(len(lines)-head-tail, "more line"))
	return append(short, lines[len(lines)-tail:]...)
}

// notice shows a word from belljar about the run. It is not clipped, because
// it may say what to do.
func (r *Renderer) notice(event trajectory.Notice) {
	r.endText()
	r.erase()
	r.write(r.paint(amber, "belljar: ") + Line(event.Text) + "\n")
	r.afterRun = false
}
