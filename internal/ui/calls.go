package ui

import (
	"encoding/json"
	"strings"

	"github.com/belljar/belljar/agent/trajectory"
)

// callHeadLines and callTailLines are how many lines of what a call is about are
// shown of a run that goes on, of its beginning and its end.
const (
	callHeadLines = 4
	callTailLines = 3
)

// tellingArguments are the names of arguments that say by themselves what a
// call is about, the most telling first. Tools are not named here, so that a
// new tool is shown well without a change.
var tellingArguments = [...]string{"command", "pattern", "path", "query", "url", "job", "patch", "task"}

// An argument is one argument of a call: a text as it is, or any other value
// in JSON.
type argument struct {
	name, value string
	text        bool
}

// parseArguments reads a call's arguments in the order in which the model sent
// them. They may be anything; ok tells whether they are an object.
func parseArguments(text string) (list []argument, ok bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, false
		}
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return nil, false
		}
		arg := argument{value: string(raw)}
		if arg.name, ok = name.(string); !ok {
			return nil, false
		}
		var value string
		if json.Unmarshal(raw, &value) == nil && string(raw) != "null" {
			arg.value, arg.text = value, true
		}
		list = append(list, arg)
	}
	_, err := decoder.Token()
	return list, err == nil
}

// about splits a call's arguments into what it is about, in lines, and the
// others. What it is about is empty where no argument says it by itself.
func about(list []argument) (lines []string, others []argument) {
	for _, name := range tellingArguments {
		for i, arg := range list {
			if arg.name == name && strings.TrimSpace(arg.value) != "" {
				return textLines(arg.value), append(list[:i:i], list[i+1:]...)
			}
		}
	}
	return nil, list
}

// shortly says in a few lines what a call is about and, in details, by what it
// differs from one that is about the same.
func shortly(arguments string) (lines []string, details string) {
	list, ok := parseArguments(arguments)
	if !ok {
		return textLines(arguments), ""
	}
	if files, others := filesOf(list); files != "" {
		return []string{files}, detailsOf(others)
	}
	if steps, others := stepsOf(list); len(steps) > 0 {
		return []string{stepsText(steps)}, detailsOf(others)
	}
	lines, others := about(list)
	details = detailsOf(others)
	switch {
	case len(lines) > 0:
		return lines, details
	case details == "" && len(list) > 0:
		return []string{Line(arguments)}, ""
	default:
		return []string{details}, ""
	}
}

// textLines are the lines of an untrusted text, without the empty ones around
// it.
func textLines(text string) []string {
	text = strings.TrimRight(strings.TrimLeft(Sanitize(text), "\n"), "\n\t ")
	return strings.Split(text, "\n")
}

// summary says in one line what a call is about.
func summary(arguments string) string {
	lines, details := shortly(arguments)
	text := Line(lines[0])
	if len(lines) > 1 {
		text += " (+" + Plural(len(lines)-1, "line") + ")"
	}
	return joinDetails(text, details)
}

// call shows that a tool is asked for.
func (r *Renderer) call(event trajectory.ToolCall) {
	r.endText()
	name := Line(event.Name)
	if !r.afterRun {
		r.erase()
		r.write("\n")
	}
	r.callHead("● "+Clip(name, r.width()/2), event.Arguments)
	r.pending = append(r.pending, pendingCall{event.CallID, name, summary(event.Arguments)})
	r.several = r.several || len(r.pending) > 1
	r.afterRun = true
	r.wait("running")
}

// callHead writes a call's name and what it is about: the beginning and the end
// while a run goes on, everything when a finished one is read.
func (r *Renderer) callHead(mark, arguments string) {
	var lines []string
	var others []argument
	list, ok := parseArguments(arguments)
	var steps []step
	besides := list
	if ok {
		steps, besides = stepsOf(list)
	}
	if r.opts.Whole && len(steps) > shownSteps {
		steps = nil // as a list they would not all be seen
	}
	switch {
	case r.opts.Whole && !ok:
		lines = textLines(arguments)
	case r.opts.Whole && len(steps) > 0:
		lines, others = []string{stepsText(steps)}, besides
	case r.opts.Whole:
		lines, others = about(list)
	default:
		lines = r.callLines(arguments, r.width()-widths().StringWidth(mark))
	}
	if len(lines) == 0 {
		lines = []string{""}
	}
	r.line("", mark, cyan, spaced(lines[0]), "")
	indent := strings.Repeat(" ", widths().StringWidth(mark))
	for _, line := range lines[1:] {
		r.line(indent, "", "", spaced(line), "")
	}
	r.steps(steps)
	for _, arg := range others {
		r.argument(arg)
	}
}

// callLines are the lines that show a call in so many columns. What tells it
// from others is not cut off before what it is about.
func (r *Renderer) callLines(arguments string, room int) []string {
	lines, details := shortly(arguments)
	if len(lines) == 1 {
		room -= len("  ")
		if details != "" {
			room -= min(widths().StringWidth(joinDetails(" ", details))-1, room/2)
		}
		return []string{joinDetails(Clip(expandTabs(lines[0]), max(room, 1)), details)}
	}
	head, hidden, tail := split(lines, callHeadLines, callTailLines)
	shown := append([]string{}, head...)
	if hidden != nil {
		shown = append(append(shown, "… "+Plural(len(hidden), "more line")), tail...)
	}
	if details != "" {
		shown = append(shown, joinDetails("", details))
	}
	return shown
}

// argument writes one argument in full.
func (r *Renderer) argument(arg argument) {
	value := Sanitize(arg.value)
	switch {
	case value == "":
		r.line("  ", Line(arg.name), faint, `  ""`, "")
	case !strings.Contains(value, "\n"):
		r.line("  ", Line(arg.name), faint, spaced(value), "")
	default:
		r.line("  ", Line(arg.name), faint, "", "")
		for _, line := range strings.Split(strings.TrimSuffix(value, "\n"), "\n") {
			r.line("  ", "│ ", faint, line, "")
		}
	}
}

// spaced sets a text off from the name before it.
func spaced(text string) string {
	if text == "" {
		return ""
	}
	return "  " + text
}
