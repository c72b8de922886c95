package ui

import (
	"encoding/json"
	"strings"
)

// tellingArguments are the names of arguments that say by themselves what a
// call is about, the most telling first. Tools are not named here, so that a
// new tool is shown well without a change.
var tellingArguments = [...]string{"command", "path", "pattern", "query", "url"}

// summary says in one line what a call is about, from its arguments as the
// model sent them, which may be anything.
func summary(arguments string) string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(arguments), &fields); err != nil {
		return Line(arguments)
	}
	for _, name := range tellingArguments {
		var value string
		if raw, ok := fields[name]; !ok || json.Unmarshal(raw, &value) != nil || value == "" {
			continue
		}
		return firstLine(value)
	}
	if len(fields) == 0 {
		return ""
	}
	return Line(arguments)
}

// firstLine gives the first line that says something, and how many follow.
func firstLine(text string) string {
	lines := strings.Split(strings.TrimSpace(Sanitize(text)), "\n")
	first := strings.Join(strings.Fields(lines[0]), " ")
	if len(lines) == 1 {
		return first
	}
	return first + " (+" + Plural(len(lines)-1, "line") + ")"
}
