package openai

import (
	"encoding/json"
	"fmt"

	"github.com/belljar/belljar/agent/model"
)

// detailsField is a field of a message in which OpenRouter and others give
// reasoning in a form that has to go back with the calls it led to: signatures
// and encrypted parts, without which Gemini's models refuse the next request.
// It is kept with the first call of the message.
const detailsField = "reasoning_details"

// details are the parts of reasoning, put together from a stream.
type details []map[string]json.RawMessage

// add takes up the parts of one event. What is no list of objects is left out.
func (d *details) add(raw json.RawMessage) {
	var parts []map[string]json.RawMessage
	if !isSet(raw) || json.Unmarshal(raw, &parts) != nil {
		return
	}
	for _, part := range parts {
		if n := len(*d); n > 0 && goesOn((*d)[n-1], part) {
			join((*d)[n-1], part)
			continue
		}
		*d = append(*d, part)
	}
}

// goesOn reports whether a part is a further piece of the one before. Pieces
// have the same type and index; a part that is whole has no text to go on with.
func goesOn(before, part map[string]json.RawMessage) bool {
	return isSet(part["index"]) && string(before["index"]) == string(part["index"]) && string(before["type"]) == string(part["type"])
}

// join adds a piece to a part: texts grow, anything else is the last that is
// set.
func join(part, piece map[string]json.RawMessage) {
	for name, value := range piece {
		switch name {
		case "text", "summary", "data":
			value = concatenated(part[name], value)
		}
		if isSet(value) {
			part[name] = value
		}
	}
}

// concatenated is the JSON of two texts in one.
func concatenated(a, b json.RawMessage) json.RawMessage {
	text, err := json.Marshal(scalar(a) + scalar(b))
	if err != nil {
		return b // a string always encodes
	}
	return text
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
