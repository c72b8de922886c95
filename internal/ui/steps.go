package ui

import (
	"encoding/json"
	"fmt"
	"slices"
)

// shownSteps bounds how many steps of a list are shown as one: what is too many
// for a tool is shown all the same, before that says so.
const shownSteps = 60

// A step is one of a list that a call gives: what is to be done, and how far it
// is.
type step struct{ content, status string }

// mark is the sign before a step, and its style.
func (s step) mark() (string, style) {
	switch s.status {
	case "completed":
		return "✓ ", green
	case "in_progress":
		return "▸ ", cyan
	default:
		return "○ ", faint
	}
}

// stepsOf finds a list of steps among a call's arguments: objects that all have
// a content and a known status and nothing else, whatever the tool is. Who reads
// it wants to see it as the list that it is. Where another argument says what the
// call is about there are none: that one must be seen.
func stepsOf(list []argument) (steps []step, others []argument) {
	if lines, _ := about(list); len(lines) > 0 {
		return nil, list
	}
	for i, arg := range list {
		if found := readSteps(arg); len(found) > 0 {
			return found, append(list[:i:i], list[i+1:]...)
		}
	}
	return nil, list
}

// readSteps reads an argument that is a list of steps. There are none where
// anything in it would not be seen as one.
func readSteps(arg argument) []step {
	var objects []json.RawMessage
	if arg.text || json.Unmarshal([]byte(arg.value), &objects) != nil {
		return nil
	}
	var steps []step
	for _, object := range objects {
		fields, ok := parseArguments(string(object))
		if !ok || len(fields) != 2 {
			return nil
		}
		if fields[0].name == "status" {
			slices.Reverse(fields)
		}
		content, status := fields[0], fields[1]
		if content.name != "content" || !content.text || content.value == "" ||
			status.name != "status" || !slices.Contains([]string{"pending", "in_progress", "completed"}, status.value) {
			return nil
		}
		steps = append(steps, step{content.value, status.value})
	}
	return steps
}

// stepsText says in short how far a list is.
func stepsText(steps []step) string {
	completed := 0
	for _, s := range steps {
		if s.status == "completed" {
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
		switch s.status {
		case "completed":
			text = faint
		case "in_progress":
			text = bold
		}
		r.line("    ", mark, markStyle, Line(s.content), text)
	}
	if more := len(list) - shownSteps; more > 0 {
		r.line("    ", "… "+Plural(more, "more step"), faint, "", "")
	}
}
