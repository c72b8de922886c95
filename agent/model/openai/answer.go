package openai

import (
	"encoding/json"
	"strings"

	"github.com/belljar/belljar/agent/model"
)

// An answer is put together from the events of a stream.
type answer struct {
	onText func(string)

	text, reasoning, refusal strings.Builder
	calls                    callSet
	usage                    *usage
	finish                   string // the server's reason, in lower case
	done                     bool   // the end marker came, or the whole document
	size                     int
}

// finished reports whether the answer is known to be whole.
func (a *answer) finished() bool { return a.finish != "" || a.done }

// add takes up one event and reports whether it brought the answer on.
func (a *answer) add(e event) (moved bool, err error) {
	if e.isEnd() {
		a.done = true
		return true, nil
	}
	if blankData(e.data) {
		return false, nil
	}
	if a.size += len(e.data); a.size > maxAnswer {
		return false, model.Errorf(model.Permanent, "the answer is longer than %d bytes", maxAnswer)
	}
	var c chunk
	if err := json.Unmarshal(e.data, &c); err != nil {
		return false, model.Errorf(model.Cut, "the answer is garbled: %w", err)
	}
	if isSet(c.Error) {
		return false, streamError(c.Error)
	}
	if len(c.Choices) == 0 && (e.name == "error" || c.Object == "error") {
		return false, streamError(e.data)
	}
	if c.Usage != nil {
		a.usage, moved = c.Usage, true
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // one answer was asked for
		}
		changed, err := a.addChoice(choice)
		if err != nil {
			return false, err
		}
		moved = moved || changed
	}
	return moved, nil
}

func (a *answer) addChoice(c choice) (moved bool, err error) {
	d := c.Delta
	if c.Message != nil {
		d = c.Message
		a.done = true
	}
	if d != nil {
		if d.Content != "" {
			a.text.WriteString(string(d.Content))
			if a.onText != nil {
				a.onText(string(d.Content))
			}
		}
		// Servers that send both send the same twice.
		if d.Thought != "" {
			a.reasoning.WriteString(string(d.Thought))
		} else {
			a.reasoning.WriteString(string(d.Reasoning))
		}
		a.refusal.WriteString(string(d.Refusal))
		if err := a.calls.addAll(d.ToolCalls); err != nil {
			return false, err
		}
		moved = d.Content != "" || d.Thought != "" || d.Reasoning != "" || d.Refusal != "" || len(d.ToolCalls) > 0
	}
	if c.FinishReason != "" {
		a.finish, moved = strings.ToLower(c.FinishReason), true
	}
	return moved, nil
}

// response is the whole answer, or why there is none.
func (a *answer) response() (model.Response, error) {
	calls, err := a.calls.list()
	if err != nil {
		return model.Response{}, err
	}
	resp := model.Response{Text: a.text.String(), Reasoning: a.reasoning.String(), Calls: calls}
	if a.usage != nil {
		resp.Usage = a.usage.tokens()
	}
	if a.refusal.Len() > 0 && len(calls) == 0 {
		return model.Response{}, model.Errorf(model.Filtered, "the model refused: %s", oneLine(a.refusal.String()))
	}
	resp.Finish, err = a.reason(resp)
	if err != nil {
		return model.Response{}, err
	}
	return resp, nil
}

// reason says why the model stopped. Tool calls decide over "stop", which
// many servers send with them.
func (a *answer) reason(resp model.Response) (model.Finish, error) {
	natural := model.FinishStop
	if len(resp.Calls) > 0 {
		natural = model.FinishToolCalls
	}
	switch a.finish {
	case "":
		if !a.done || resp.Text == "" && resp.Reasoning == "" && len(resp.Calls) == 0 {
			return "", model.Errorf(model.Cut, "the answer was cut: the stream ended without an end marker or a reason")
		}
		return natural, nil
	case "stop":
		return natural, nil
	case "tool_calls", "function_call":
		if len(resp.Calls) == 0 {
			return "", model.Errorf(model.Cut, "the answer says that it asks for tools, but the calls are missing")
		}
		return natural, nil
	case "length":
		return model.FinishLength, nil
	case "content_filter":
		return "", model.Errorf(model.Filtered, "the server filtered the answer; change the task or use another model")
	case "error", "insufficient_system_resource":
		return "", model.Errorf(model.Transient, "the server broke off the answer (%s)", a.finish)
	default:
		return "", model.Errorf(model.Permanent, "the server ended the answer for a reason that is not known here: %q", oneLine(a.finish))
	}
}

// isSet tells a JSON value that is there and not null.
func isSet(value json.RawMessage) bool { return len(value) > 0 && string(value) != "null" }

// blankData tells an event without content, which some servers send to keep
// the connection alive.
func blankData(data []byte) bool { return strings.TrimSpace(string(data)) == "" }
