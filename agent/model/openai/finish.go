package openai

import (
	"encoding/json"

	"github.com/belljar/belljar/agent/model"
)

// reason says why the model stopped. Tool calls decide over "stop", which
// many servers send with them. A reason that is not known here is an error: it
// may well mean that the answer is not whole.
func (a *answer) reason(resp model.Response) (model.Finish, error) {
	natural := model.FinishStop
	if len(resp.Calls) > 0 {
		natural = model.FinishToolCalls
	}
	switch a.finish {
	case "":
		return natural, a.checkUnsaid(resp)
	case "stop", "eos", "end_turn", "stop_sequence":
		return natural, nil
	case "tool_calls", "function_call", "tool_use":
		if len(resp.Calls) == 0 {
			return "", model.Errorf(model.Cut, "the answer says that it asks for tools, but the calls are missing")
		}
		return natural, nil
	case "length", "max_tokens", "model_length":
		return model.FinishLength, nil
	case "model_context_window_exceeded":
		return "", model.Errorf(model.Context, "the conversation and the answer are longer than the model's context window")
	case "content_filter", "sensitive", "safety", "recitation", "prohibited_content", "blocklist", "refusal",
		"spii", "language", "image_safety", "content-filter", "content_filtered", "guardrail_intervened":
		return "", model.Errorf(model.Filtered, "the server filtered the answer (%s); change the task or use another model", a.finish)
	case "error", "insufficient_system_resource", "network_error", "abort", "other":
		return "", model.Errorf(model.Transient, "the server broke off the answer (%s)", a.finish)
	}
	if containsAny(a.finish, "malformed_function_call", "malformed_response", "unexpected_tool_call", "too_many_tool_calls") {
		return "", badCall(a.finish) // Gemini's words, one of them after a name of its own
	}
	return "", model.Errorf(model.Permanent, "the server ended the answer for a reason that is not known here: %q", oneLine(a.finish))
}

// checkUnsaid checks an answer that has no reason. It is whole only where the
// end was marked, and where no call breaks off in the middle: servers that lose
// their model mark the end too.
func (a *answer) checkUnsaid(resp model.Response) error {
	if !a.done || resp.Text == "" && resp.Reasoning == "" && len(resp.Calls) == 0 {
		return model.Errorf(model.Cut, "the answer was cut: the stream ended without an end marker or a reason")
	}
	for _, call := range resp.Calls {
		if !blank(call.Arguments) && !isObject(call.Arguments) {
			return model.Errorf(model.Cut, "the answer was cut: the stream ended without a reason, inside the arguments of %s", oneLine(call.Name))
		}
	}
	return nil
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
