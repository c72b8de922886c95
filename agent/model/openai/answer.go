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
	other                    map[string]string // fields that are not used, as they came last
	usage                    *usage
	end                      end
	begun                    bool // something brought it on
	streamed                 bool // it comes in deltas
	done                     bool // the end marker came, or the whole document
	size                     int
}

// finished reports whether the answer is known to be whole. What comes after
// cannot spoil it.
func (a *answer) finished() bool { return a.end.certain || a.done }

// add takes up one event and reports whether it brought the answer on. Counts
// do not: some servers send them with every event, and without one.
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
	e.data = inList(e.data)
	var c chunk
	if err := json.Unmarshal(e.data, &c); err != nil {
		if e.name == "error" {
			return false, a.brokenOff(e.data)
		}
		return false, model.Errorf(model.Cut, "the answer is garbled: %w", err)
	}
	if said := c.broken(e); said != nil {
		return false, a.brokenOff(said)
	}
	if reason := c.blocked(); reason != "" {
		return false, model.Errorf(model.Filtered, "the server filtered the conversation (%s); change the task or use another model", reason)
	}
	if u := c.counted(); u != nil {
		if a.usage == nil || *u != (usage{}) {
			a.usage = u
		}
		if len(c.Choices) == 0 {
			a.end.closed() // they come last
		}
	}
	for _, choice := range c.Choices {
		if !choice.first() {
			continue // one answer was asked for
		}
		changed, err := a.addChoice(choice, e.document || c.Object == "chat.completion")
		if err != nil {
			return false, err
		}
		moved = moved || changed
	}
	return moved, nil
}

// brokenOff is the error for what a server says of why it breaks off.
func (a *answer) brokenOff(said json.RawMessage) error {
	return streamError([]byte(a.redact(string(said))))
}

// addChoice takes up a piece of the answer, or the whole of it.
func (a *answer) addChoice(c choice, whole bool) (moved bool, err error) {
	brought := false
	if c.Delta != nil {
		a.streamed = true
		if brought, moved, err = a.addPiece(c.Delta); err != nil {
			return false, err
		}
	}
	if c.Message != nil && (!a.streamed || c.Finish != "") {
		if a.streamed {
			a.leaveNew(c.Message)
		}
		more, changed, err := a.addPiece(c.Message)
		if err != nil {
			return false, err
		}
		brought, moved = brought || more, moved || changed
		a.done = a.done || !a.streamed && (whole || c.Finish != "")
	}
	if brought {
		a.end.goesOn()
	}
	return a.end.add(string(c.Finish), brought, a.begun || brought) || moved, nil
}

// leaveNew takes out of a message what the deltas before it gave: some servers
// repeat the whole answer in their last event, and a call must not run twice.
func (a *answer) leaveNew(m *delta) {
	if a.text.Len() > 0 {
		m.Content.text = ""
	}
	if a.reasoning.Len() > 0 {
		m.Reasoning, m.Thought, m.Content.thought = "", "", ""
	}
	if a.refusal.Len() > 0 {
		m.Refusal = ""
	}
	if len(a.calls.calls) > 0 {
		m.ToolCalls = nil
	}
	if len(a.details) > 0 {
		m.Details = nil
	}
}

// addPiece takes up what was said. It reports whether that is a part of the
// answer, and whether it shows at least that the model is at work.
func (a *answer) addPiece(d *delta) (brought, moved bool, err error) {
	if said := d.Content.text; said != "" {
		a.text.WriteString(said)
		if a.onText != nil {
			a.onText(said)
		}
	}
	a.reasoning.WriteString(d.thought())
	a.refusal.WriteString(string(d.Refusal))
	moved = a.details.add(d.Details)
	called, err := a.calls.addAll(d.ToolCalls)
	if err != nil {
		return false, false, err
	}
	brought = called || d.Content.text != "" || d.thought() != "" || d.Refusal != ""
	return brought, brought || a.addOther(d) || moved, nil
}

// addOther notes what is not used, and reports whether any of it is new. What
// says the same with every event shows no model at work.
func (a *answer) addOther(d *delta) (changed bool) {
	for name, value := range d.Other {
		if a.other == nil {
			a.other = map[string]string{}
		}
		changed = changed || a.other[name] != string(value)
		a.other[name] = string(value)
	}
	return changed || d.Content.other
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
	if a.refusal.Len() > 0 {
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
