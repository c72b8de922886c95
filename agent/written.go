package agent

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
)

// maxWritten is the number of calls that a model writes as text, with none that
// it makes in between, that end a run: a server that reads no calls out of what
// the model writes will not begin to.
const maxWritten = 2

// writtenText tells the model what became of a call that it wrote. It may have
// meant to show one.
const writtenText = "Your last answer holds a tool call written as text. Nothing was run: only calls made through the tool interface are. " +
	"Make the call that way; if the text is your answer, put the call that it shows into a code block."

const (
	// beginsCall are the ways in which models are trained to begin a call, which
	// a server's parser takes out of the text.
	beginsCall = `<\|?/?tool_?calls?|<function[=_ ]|<invoke |\[TOOL_CALLS\]|<\|python_tag\|>|<｜(?:tool|DSML)|to=functions\.|<tool_use`
	// firstWord is the first word after that which is no part of the markup.
	firstWord = `^(?:[^A-Za-z_]|(?:tools?|calls?|begin|sep|section|functions?|name|type|invoke|DSML|tool_calls?|tool_name)\b|_)*([A-Za-z][\w-]*)`
	// namedCall is the name in a call that is a JSON object.
	namedCall = `"name"\s*:\s*"([\w-]+)"`
	// talkAfter is a text that goes on after the end of a call.
	talkAfter = `</(?:tool_?calls?|functions?|function_calls|invoke|tool_use)>(?:\s*<[^>]*>|[^<\pL])*\pL[^<]*$`
	// shown is what a text shows as code and does not say.
	shown = "(?ms)^[ \t]*```.*?(?:^[ \t]*```|\\z)|`[^`\n]+`"
)

// writtenCall finds the tool that an answer without calls calls all the same,
// in the text or, where there is none, in what the model thought. Talk of calls
// is none: it goes on after the call, shows it as code, or names no tool that is
// on offer.
func (r *run) writtenCall(resp model.Response) bool {
	said := strings.TrimSpace(resp.Text)
	if said == "" {
		said = strings.TrimSpace(resp.Reasoning)
	}
	if r.isCall(said) {
		return true
	}
	said = strings.TrimSpace(regexp.MustCompile(shown).ReplaceAllString(said, ""))
	if said == "" || !strings.ContainsAny(said[len(said)-1:], ">}]") || regexp.MustCompile(talkAfter).MatchString(said) {
		return false
	}
	first, named := regexp.MustCompile(firstWord), regexp.MustCompile(namedCall)
	// Bounded: a model that says nothing but beginnings is not worth more.
	for _, at := range regexp.MustCompile(beginsCall).FindAllStringIndex(said, 64) {
		rest := said[at[1]:]
		isEnd := strings.Contains(said[at[0]:at[1]], "/")
		if isEnd {
			rest = said // the server took the beginning away
		}
		rest = rest[:min(len(rest), 64<<10)]
		if word := first.FindStringSubmatch(rest); !isEnd && word != nil && r.offers(word[1]) {
			return true
		}
		if name := named.FindStringSubmatch(rest); name != nil && r.offers(name[1]) {
			return true
		}
	}
	return false
}

// isCall tells a text that is a JSON object with a tool and its arguments, and
// nothing else.
func (r *run) isCall(text string) bool {
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		text = strings.TrimSuffix(strings.TrimPrefix(rest, "json"), "```")
	}
	var call struct {
		Name                  string
		Arguments, Parameters json.RawMessage
	}
	if json.Unmarshal([]byte(text), &call) != nil {
		return false
	}
	return r.offers(call.Name) && len(call.Arguments)+len(call.Parameters) > 0
}

// offers reports whether there is a tool of the name.
func (r *run) offers(name string) bool {
	_, known := r.effects[name]
	return known
}

// takeWritten deals with an answer that is a call written as text. It is not
// run: what the model wrote is not what a server made of it, and may be there to
// be read.
func (r *run) takeWritten() (Stop, error) {
	if r.written++; r.written >= maxWritten {
		return "", model.Errorf(model.Permanent, "the model %s writes its tool calls as text, so none is run: its server reads no calls out of what the model says; "+
			"start vLLM with --enable-auto-tool-choice and --tool-call-parser, llama.cpp with --jinja, or use a model that the server knows the calls of",
			r.opts.Model.Name())
	}
	return "", r.tell(trajectory.NoticeWritten, writtenText)
}
