package openai

import (
	"encoding/json"
	"strings"

	"github.com/belljar/belljar/agent/model"
)

// An answer is put together from the events of a stream.
type answer struct {
	onText func(string)
	redact func(string) string // takes keys out of what the server says of an error

	text, reasoning, refusal strings.Builder
	calls                    callSet
	details                  details
	usage                    *usage
	finish                   string // the server's reason, in lower case
	begun                    bool   // something brought it on
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
		return false, streamError([]byte(a.redact(string(c.Error))))
	}
	if len(c.Choices) == 0 && (e.name == "error" || c.Object == "error") {
		return false, streamError([]byte(a.redact(string(e.data))))
	}
	if reason := c.blocked(); reason != "" {
		return false, model.Errorf(model.Filtered, "the server filtered the conversation (%s); change the task or use another model", reason)
	}
	if u := c.counted(); u != nil {
		a.usage, moved = u, true
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
		if said := d.Content.text; said != "" {
			a.text.WriteString(said)
			if a.onText != nil {
				a.onText(said)
			}
		}
		a.reasoning.WriteString(d.thought())
		a.refusal.WriteString(string(d.Refusal))
		a.details.add(d.Details)
		if err := a.calls.addAll(d.ToolCalls); err != nil {
			return false, err
		}
		moved = d.Content.text != "" || d.thought() != "" || d.Refusal != "" || len(d.ToolCalls) > 0 || d.Other
	}
	if c.FinishReason != "" && c.FinishReason != "null" { // some write the null as a text
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
	if err := a.details.keep(calls); err != nil {
		return model.Response{}, err
	}
	resp := model.Response{Text: a.text.String(), Reasoning: a.reasoning.String(), Calls: calls}
	if a.refusal.Len() > 0 && len(calls) == 0 {
		return model.Response{}, model.Errorf(model.Filtered, "the model refused: %s", oneLine(a.refusal.String()))
	}
	resp.Finish, err = a.reason(resp)
	if err != nil {
		return model.Response{}, err
	}
	return resp, nil
}

// isSet tells a JSON value that is there and not null.
func isSet(value json.RawMessage) bool { return len(value) > 0 && string(value) != "null" }

// blankData tells an event without content, which some servers send to keep
// the connection alive.
func blankData(data []byte) bool { return strings.TrimSpace(string(data)) == "" }
