package ui

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/belljar/belljar/agent/trajectory"
)

// result shows how a call ended and what it gave: the beginning and the end
// while a run goes on, everything when a finished one is read.
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
	lines := contentLines(event.Content)
	if !r.opts.Whole {
		lines = preview(event, lines, r.width()-widths().StringWidth("  │ "))
	}
	for _, line := range lines {
		r.line("  ", "│ ", faint, line.text, line.kind.style())
	}
	if r.opts.Whole && event.Output != "" {
		r.line("  ", "whole output", faint, spaced(Line(filepath.Join(r.opts.SessionDir, filepath.FromSlash(event.Output)))), "")
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
	case status == "running" && !event.IsError:
		return status, true
	case status != "" && status != "exited" && status != "ok":
		return strings.ReplaceAll(status, "_", " "), false
	case event.IsError:
		return "error", false
	default:
		return "ok", true
	}
}

// A lineKind is what a line of a result is in a diff.
type lineKind int

const (
	kindText    lineKind = iota // it is no part of one
	kindHeader                  // names the file
	kindHunk                    // says where the lines below it stand
	kindContext                 // stays
	kindAdded
	kindRemoved
)

// style is the colour of a kind.
func (k lineKind) style() style {
	return [...]style{kindHunk: cyan, kindAdded: green, kindRemoved: red}[k]
}

// A contentLine is one line of a result.
type contentLine struct {
	text string
	kind lineKind
}

// contentLines are the lines of a result, with those of diffs told apart.
func contentLines(parts []trajectory.Part) []contentLine {
	var lines []contentLine
	for _, part := range parts {
		if part.Type != "text" && part.Text == "" {
			about := "[" + Line(part.Type+" "+part.MediaType) + ", " + Size(int64(len(part.Data))) + "]"
			lines = append(lines, contentLine{text: about})
			continue
		}
		if text := strings.TrimRight(Sanitize(part.Text), "\n\t "); text != "" {
			lines = append(lines, diffLines(strings.Split(text, "\n"))...)
		}
	}
	return lines
}

// diffLines finds unified diffs in a text. Their hunks begin after the two
// lines that name the file, so a list with dashes is not taken for one.
func diffLines(text []string) []contentLine {
	lines := make([]contentLine, len(text))
	named, hunk := 0, false // how many naming lines have come; within a hunk
	for i, line := range text {
		lines[i].text = line
		switch {
		case strings.HasPrefix(line, "--- ") && i+1 < len(text) && strings.HasPrefix(text[i+1], "+++ "):
			lines[i].kind, named, hunk = kindHeader, 1, false
		case named == 1:
			lines[i].kind, named = kindHeader, 2
		case named == 2 && strings.HasPrefix(line, "@@ "):
			lines[i].kind, hunk = kindHunk, true
		case hunk && strings.HasPrefix(line, "+"):
			lines[i].kind = kindAdded
		case hunk && strings.HasPrefix(line, "-"):
			lines[i].kind = kindRemoved
		case hunk && (line == "" || strings.HasPrefix(line, " ") || strings.HasPrefix(line, `\`)):
			lines[i].kind = kindContext
		default:
			named, hunk = 0, false
		}
	}
	return lines
}
