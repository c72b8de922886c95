package trajectory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// EventType is the envelope's type for a body, such as "tool_call".
func EventType(body Body) string { return body.eventType() }

// envelope is the part that every event has. Its fields come first on a line,
// in this order, so that a person and a line tool find them at once.
type envelope struct {
	V    int       `json:"v"`
	Type string    `json:"type"`
	Time time.Time `json:"time"`
	Seq  int       `json:"seq"`
	// Parent is that of a Nested body.
	Parent string `json:"parent,omitempty"`
}

// MarshalJSON writes the envelope and then the body's fields in one object.
// The type written is the body's own.
func (e Event) MarshalJSON() ([]byte, error) {
	if e.Body == nil {
		return nil, errors.New("encoding an event: it has no body")
	}
	inner, parent := Unnest(e.Body)
	head, err := encode(envelope{V: e.V, Type: e.Body.eventType(), Time: e.Time, Seq: e.Seq, Parent: parent})
	if err != nil {
		return nil, fmt.Errorf("encoding an event: %w", err)
	}
	body, err := encode(inner)
	if err != nil {
		return nil, fmt.Errorf("encoding a %s event: %w", e.Body.eventType(), err)
	}
	if len(body) <= len("{}") {
		return head, nil
	}
	line := make([]byte, 0, len(head)+len(body))
	line = append(line, head[:len(head)-1]...)
	line = append(line, ',')
	return append(line, body[1:]...), nil
}

// encode is json.Marshal without the escapes that only HTML needs, which make
// shell text in a record hard to read.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// MarshalJSON writes an empty list, never null, for a result without content.
func (r ToolResult) MarshalJSON() ([]byte, error) {
	type plain ToolResult
	if r.Content == nil {
		r.Content = []Part{}
	}
	return encode(plain(r))
}

// MarshalJSON writes a text even when it is empty: a text part has a text.
func (p Part) MarshalJSON() ([]byte, error) {
	if p.Type == "text" {
		return encode(struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{p.Type, p.Text})
	}
	type plain Part
	return encode(plain(p))
}
