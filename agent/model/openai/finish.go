package openai

import (
	"encoding/json"
	"strings"

	"github.com/belljar/belljar/agent/model"
)

// An end is what a stream says of its end.
type end struct {
	reason string // the worst so far, in lower case
	last   string
	early  bool // a reason came before the end of what it was about
	// certain says that a reason came by itself, after something: that is the
	// end. Beside a piece of the answer it may be in each of them.
	certain bool
}

// goesOn notes that a piece of the answer came.
func (e *end) goesOn() {
	e.early = e.early || e.reason != ""
	e.certain = false
}

// closed notes that something came that only follows a whole answer.
func (e *end) closed() { e.certain = e.certain || e.reason != "" && !e.early }

// add takes up a reason that came with a piece or without, and reports whether
// it says anything new.
func (e *end) add(reason string, withPiece, begun bool) bool {
	reason = strings.ToLower(reason)
	switch reason {
	case "", "null", "none", "unspecified", "finish_reason_unspecified": // ways to say that there is none yet
		return false
	}
	if rank(reason) >= rank(e.reason) {
		e.reason = reason
	}
	e.certain = e.certain || begun && !withPiece && !e.early
	changed := reason != e.last
	e.last = reason
	return changed
}

// A way is how an answer ended, as far as the reason tells. Of two reasons the
// later one of these counts: a server that goes on to say "stop" has cut or
// filtered the answer all the same.
type way int

const (
	unsaid     way = iota
	natural        // as the model meant it
	forTools       // with calls
	atLimit        // cut by the output limit
	unknown        // for a reason that is not known here
	misread        // the server could not read the model's call
	brokenOff      // for trouble on the server
	overWindow     // at the end of the model's context window
	filtered
)

// rank sorts a reason.
func rank(reason string) way {
	switch reason {
	case "":
		return unsaid
	case "stop", "eos", "eos_token", "end_turn", "stop_sequence":
		return natural
	case "tool_calls", "function_call", "tool_use":
		return forTools
	case "length", "max_tokens", "model_length":
		return atLimit
	case "model_context_window_exceeded":
		return overWindow
	case "content_filter", "sensitive", "safety", "recitation", "prohibited_content", "blocklist", "refusal",
		"spii", "language", "image_safety", "content-filter", "content_filtered", "guardrail_intervened":
		return filtered
	case "error", "insufficient_system_resource", "network_error", "abort", "other":
		return brokenOff
	}
	// Gemini's words, one of them after a name of its own.
	if containsAny(reason, "malformed_function_call", "malformed_response", "unexpected_tool_call", "too_many_tool_calls") {
		return misread
	}
	return unknown
}

// reason says why the model stopped. Tool calls decide over "stop", which
// many servers send with them. A reason that is not known here is an error: it
// may well mean that the answer is not whole.
func (a *answer) reason(resp model.Response) (model.Finish, error) {
	meant := model.FinishStop
	if len(resp.Calls) > 0 {
		meant = model.FinishToolCalls
	}
	said := oneLine(a.end.reason)
	switch rank(a.end.reason) {
	case unsaid:
		return meant, a.checkUnsaid(resp)
	case natural:
		return meant, a.checkCalls(resp)
	case forTools:
		if len(resp.Calls) == 0 {
			return "", model.Errorf(model.Cut, "the answer says that it asks for tools, but the calls are missing")
		}
		return meant, a.checkCalls(resp)
	case atLimit:
		return model.FinishLength, nil
	case misread:
		return "", badCall(said)
	case brokenOff:
		return "", model.Errorf(model.Transient, "the server broke off the answer (%s)", said)
	case overWindow:
		return "", model.Errorf(model.Context, "the conversation and the answer are longer than the model's context window")
	case filtered:
		return "", model.Errorf(model.Filtered, "the server filtered the answer (%s); change the task or use another model", said)
	default:
		return "", model.Errorf(model.Permanent, "the server ended the answer for a reason that is not known here: %q", said)
	}
}

// checkUnsaid checks an answer that has no reason. It can be whole only where
// the end was marked, and where every call is: servers that lose their model
// mark the end too.
func (a *answer) checkUnsaid(resp model.Response) error {
	if !a.done || resp.Text == "" && resp.Reasoning == "" && len(resp.Calls) == 0 {
		return model.Errorf(model.Cut, "the answer was cut: the stream ended without an end marker or a reason")
	}
	return a.checkCalls(resp)
}

// checkCalls checks that no call breaks off where the end leaves a doubt.
// Arguments that have not begun look like none.
func (a *answer) checkCalls(resp model.Response) error {
	if a.end.certain || a.done && a.end.reason != "" {
		return nil
	}
	for _, call := range resp.Calls {
		if !isObject(call.Arguments) {
			return model.Errorf(model.Cut, "the answer was cut: the stream ended without saying so, inside the arguments of %s", oneLine(call.Name))
		}
	}
	return nil
}

// doubt says why an answer may be cut though it looks whole; "" is no doubt.
func (a *answer) doubt() string {
	switch way := rank(a.end.reason); {
	case way > forTools:
		return ""
	case way == unsaid:
		return "the answer was marked as ended, but no reason was given"
	case a.end.early && !a.done:
		return "reasons for the end came in the middle of the answer, and no end marker came"
	default:
		return ""
	}
}

// blocked is why the prompt was blocked, in an answer that has no choices for
// that; "" is not.
func (c *chunk) blocked() string {
	var feedback struct {
		Reason string `json:"blockReason"`
	}
	if len(c.Choices) > 0 || !isSet(c.Feedback) || json.Unmarshal(c.Feedback, &feedback) != nil {
		return ""
	}
	return oneLine(feedback.Reason)
}
