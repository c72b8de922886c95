package openai

import (
	"regexp"

	"github.com/belljar/belljar/agent/model"
)

// isBadCall tells refusals of what the model wrote, by servers that cannot read
// its call of a tool or find that it does not fit the tool.
func (d detail) isBadCall() bool {
	return containsAny(d.words(), "tool_use_failed", "tool call validation failed", // Groq
		"error parsing tool call",      // Ollama
		"failed to parse input at pos") // llama.cpp
}

// refusedCall is what the server says of such a call; it is zero for any other
// refusal. Groq tells what the model wrote in a field of its own, the others in
// the middle of their words.
func (d detail) refusedCall() model.RefusedCall {
	if !d.isBadCall() {
		return model.RefusedCall{}
	}
	call := model.RefusedCall{Problem: oneLine(d.message), Written: d.written}
	for _, pattern := range []string{
		`(?s)(.*?): raw='(.*)',? err=(.*)`,
		`(?is)(.*?failed to parse input at pos \d+): (.*)()`,
	} {
		found := regexp.MustCompile(pattern).FindStringSubmatch(d.message)
		if found == nil || call.Written != "" {
			continue
		}
		call.Problem, call.Written = found[1], found[2]
		if found[3] != "" {
			call.Problem += ": " + found[3]
		}
		call.Problem = oneLine(call.Problem)
	}
	return call
}

// badCall is an answer that ended for a call that the server could not read.
func badCall(finish string) error {
	e := model.Errorf(model.BadCall, "the server could not read the model's tool call (%s)", oneLine(finish))
	e.Call.Problem = oneLine(finish)
	return e
}
