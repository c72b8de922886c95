package ui

import (
	"encoding/json"
	"fmt"
	"slices"
)

// shownSteps bounds how many steps of a list are shown: what is too many for a
// tool is shown all the same, before that says so.
const shownSteps = 60

// A step is one of a list that a call gives: what is to be done, and how far it
// is.
type step struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// mark is the sign before a step, and its style.
func (s step) mark() (string, style) {
	switch s.Status {
	case "completed":
		return "✓ ", green
	case "in_progress":
		return "▸ ", cyan
	default:
		return "○ ", faint
	}
}

// stepsOf finds a list of steps among a call's arguments: objects that all have
// a content and a status, whatever the tool is. Who reads it wants to see it as
// the list that it is. Where another argument says what the call is about there
// are none: that one must be seen.
func stepsOf(list []argument) (steps []step, others []argument) {
	if lines, _ := about(list); len(lines) > 0 {
		return nil, list
	}
	for i, arg := range list {
		var found []step
		if arg.text || json.Unmarshal([]byte(arg.value), &found) != nil || len(found) == 0 {
			continue
		}
		if !slices.ContainsFunc(found, func(s step) bool { return s.Content == "" || s.Status == "" }) {
			return found, append(list[:i:i], list[i+1:]...)
		}
	}
	return nil, list
}

// stepsText says in short how far a list is.
func stepsText(steps []step) string {
	completed := 0
	for _, s := range steps {
		if s.Status == "completed" {
			completed++
		}
	}
	return fmt.Sprintf("%d of %s completed", completed, Plural(len(steps), "step"))
}

// steps shows a list below its call.
func (r *Renderer) steps(list []step) {
	for _, s := range list[:min(len(list), shownSteps)] {
		mark, markStyle := s.mark()
		text := style("")
		switch s.Status {
		case "completed":
			text = faint
		case "in_progress":
			text = bold
		}
		r.line("    ", mark, markStyle, Line(s.Content), text)
	}
	if more := len(list) - shownSteps; more > 0 {
		r.line("    ", "… "+Plural(more, "more step"), faint, "", "")
	}
}
