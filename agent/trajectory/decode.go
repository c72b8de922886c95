package trajectory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// UnmarshalJSON reads one line. An event of a type or version that is not
// known here has a nil Body; that is no error. Fields that are not known are
// skipped.
func (e *Event) UnmarshalJSON(line []byte) error {
	var head envelope
	if err := json.Unmarshal(line, &head); err != nil {
		return fmt.Errorf("reading an event: %w", err)
	}
	if head.V == 0 || head.Type == "" {
		return errors.New(`reading an event: it has no "v" or no "type"`)
	}
	*e = Event{V: head.V, Type: head.Type, Time: head.Time, Seq: head.Seq}
	if head.V != Version {
		return nil
	}
	body := newBody(head.Type)
	if body == nil {
		return nil
	}
	if err := json.Unmarshal(line, body); err != nil {
		return fmt.Errorf("reading a %s event: %w", head.Type, err)
	}
	e.Body = reflect.ValueOf(body).Elem().Interface().(Body)
	if head.Parent != "" {
		e.Body = Nested{Parent: head.Parent, Body: e.Body}
	}
	return nil
}

// newBody is a pointer to an empty body of the type, or nil for a type that is
// not known.
func newBody(eventType string) any {
	switch eventType {
	case Start{}.eventType():
		return new(Start)
	case Message{}.eventType():
		return new(Message)
	case ToolCall{}.eventType():
		return new(ToolCall)
	case ToolResult{}.eventType():
		return new(ToolResult)
	case Usage{}.eventType():
		return new(Usage)
	case Notice{}.eventType():
		return new(Notice)
	case Network{}.eventType():
		return new(Network)
	case Approval{}.eventType():
		return new(Approval)
	case End{}.eventType():
		return new(End)
	default:
		return nil
	}
}

// unknownFields counts the fields of a line that neither the envelope nor the
// body has a place for. Only the top level is looked at: that is where later
// versions add.
func unknownFields(line []byte, body Body) int {
	var fields map[string]json.RawMessage
	if json.Unmarshal(line, &fields) != nil {
		return 0
	}
	inner, _ := Unnest(body)
	for _, known := range []reflect.Type{reflect.TypeFor[envelope](), reflect.TypeOf(inner)} {
		for i := range known.NumField() {
			name, _, _ := strings.Cut(known.Field(i).Tag.Get("json"), ",")
			delete(fields, name)
		}
	}
	return len(fields)
}

// blank tells a line that holds nothing.
func blank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }
