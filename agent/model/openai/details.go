package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belljar/belljar/agent/model"
)

// detailsField is a field of a message in which OpenRouter and others give
// reasoning in a form that has to go back with the calls it led to: signatures
// and encrypted parts, without which Gemini's models refuse the next request.
// It is kept with the first call of the message.
const detailsField = "reasoning_details"

// details are the parts of reasoning, put together from a stream.
type details []*thinking

// A thinking is one part of the reasoning.
type thinking struct {
	fields map[string]json.RawMessage
	// growing are the texts that came in more than one piece. They are in JSON
	// only once they are whole: a long thought has tens of thousands of pieces.
	growing map[string]*strings.Builder
}

// add takes up the parts of one event, and reports whether they brought
// anything. What is no list of objects is left out.
func (d *details) add(raw json.RawMessage) (brought bool) {
	var parts []map[string]json.RawMessage
	if !isSet(raw) || json.Unmarshal(raw, &parts) != nil {
		return false
	}
	for i, part := range parts {
		brought = brought || thinks(part)
		// What comes in one event is told apart by whoever sends it, so only the
		// first part can go on with what came before.
		if n := len(*d); i == 0 && n > 0 && (*d)[n-1].goesOn(part) {
			(*d)[n-1].join(part)
			continue
		}
		*d = append(*d, &thinking{fields: part, growing: map[string]*strings.Builder{}})
	}
	return brought
}

// thinks tells a part that holds more than what kind of part it is.
func thinks(part map[string]json.RawMessage) bool {
	for name, value := range part {
		switch name {
		case "type", "format", "index", "id":
		default:
			if says(value) {
				return true
			}
		}
	}
	return false
}

// goesOn reports whether a part is a further piece of this one. Pieces have the
// same type and index, and no two ids: where the index does not number the
// parts, the encrypted ones of several calls are told apart by their ids alone.
func (t *thinking) goesOn(part map[string]json.RawMessage) bool {
	same := func(name string) bool { return string(t.fields[name]) == string(part[name]) }
	named := isSet(t.fields["id"]) && isSet(part["id"])
	return isSet(part["index"]) && same("index") && same("type") && (!named || same("id"))
}

// join adds a piece: texts grow, anything else is the last that is set.
func (t *thinking) join(piece map[string]json.RawMessage) {
	for name, value := range piece {
		if !isSet(value) {
			continue
		}
		switch name {
		case "text", "summary", "data":
			t.grow(name, scalar(value))
		default:
			t.fields[name] = value
		}
	}
}

func (t *thinking) grow(name, text string) {
	if t.growing[name] == nil {
		t.growing[name] = &strings.Builder{}
		t.growing[name].WriteString(scalar(t.fields[name]))
	}
	t.growing[name].WriteString(text)
}

// MarshalJSON writes the part with its texts whole.
func (t *thinking) MarshalJSON() ([]byte, error) {
	fields := map[string]any{}
	for name, value := range t.fields {
		fields[name] = value
	}
	for name, text := range t.growing {
		fields[name] = text.String()
	}
	return json.Marshal(fields)
}

// keep puts the details with the first of the calls.
func (d details) keep(calls []model.ToolCall) error {
	if len(d) == 0 || len(calls) == 0 {
		return nil
	}
	fields, err := extraFields(calls[0])
	if err != nil {
		return err
	}
	fields[detailsField] = d
	extra, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("keeping %s: %w", detailsField, err)
	}
	calls[0].Extra = string(extra)
	return nil
}

// extraFields are the further fields of a call.
func extraFields(call model.ToolCall) (map[string]any, error) {
	fields := map[string]any{}
	if call.Extra == "" {
		return fields, nil
	}
	var raw map[string]json.RawMessage // numbers stay as they are written
	if err := json.Unmarshal([]byte(call.Extra), &raw); err != nil {
		return nil, fmt.Errorf("reading the further fields of the call %s: %w", call.ID, err)
	}
	for name, value := range raw {
		fields[name] = value
	}
	return fields, nil
}
