package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/belljar/belljar/agent/model"
)

// maxCalls bounds the tool calls of one answer.
const maxCalls = 256

// functionField is the field of a call that its name and arguments are in.
const functionField = "function"

// A callSet puts tool calls together from their pieces. The protocol says that
// every piece has an index, and the first one an id and the name. Servers leave
// out each of these, or give every call the same index; the rules here put each
// kind together rightly:
//
//   - An id that is known wins over the index.
//   - A new id on an index that is in use begins a new call, unless the call
//     there has no id yet and lacks what the piece brings.
//   - A piece without an id goes on with the call at its index, and without an
//     index with the call before; but a piece that names a tool begins a new
//     call when that call is whole already.
type callSet struct {
	calls   []*building
	current *building
}

// building is a call that is being put together.
type building struct {
	id, name string
	index    *int
	args     strings.Builder
	braces   braces // of args
	// extra are further fields, and inFunction those of the function.
	extra, inFunction map[string]json.RawMessage
}

// addAll takes the pieces of one event, and reports whether they brought
// anything: some servers repeat what was said, or send pieces of nothing.
func (s *callSet) addAll(pieces []callDelta) (brought bool, err error) {
	touched := map[*building]bool{}
	for _, d := range pieces {
		if d.empty() {
			continue
		}
		b := s.find(d)
		// Two pieces that name a tool in one event are two calls, whatever
		// their indexes say.
		again := touched[b] && d.Function.Name != "" && (d.ID == "" || d.ID != b.id)
		if b == nil || again || b.endsBefore(d) {
			if len(s.calls) == maxCalls {
				return false, model.Errorf(model.Permanent, "the answer asks for more than %d tool calls", maxCalls)
			}
			b = &building{index: d.Index}
			s.calls = append(s.calls, b)
		}
		brought = b.add(d) || brought
		touched[b], s.current = true, b
	}
	return brought, nil
}

// find returns the call that the piece belongs to, or nil for a new one.
func (s *callSet) find(d callDelta) *building {
	if d.ID != "" {
		for _, b := range slices.Backward(s.calls) {
			if b.id == d.ID {
				return b
			}
		}
	}
	candidate := s.current
	// A call that began without an index goes on with pieces that have one.
	joins := candidate != nil && candidate.index == nil && d.ID == "" && d.Function.Name == ""
	if d.Index != nil && !joins {
		candidate = nil
		for _, b := range slices.Backward(s.calls) {
			if b.index != nil && *b.index == *d.Index {
				candidate = b
				break
			}
		}
	}
	if candidate == nil || d.ID == "" {
		return candidate
	}
	if candidate.id != "" || d.Function.Name != "" && candidate.name != "" {
		return nil
	}
	return candidate
}

// endsBefore reports whether the call is whole and the piece begins the next.
func (b *building) endsBefore(d callDelta) bool {
	name, args := string(d.Function.Name), string(d.Function.Arguments)
	switch {
	case name == "" || b.name == "":
		return false
	case name == b.name:
		return !blank(args) && b.braces.closed && isObject(b.args.String())
	case b.args.Len() > 0:
		return true
	default:
		// Two names and no arguments so far: the second name is the rest of
		// the first where it comes alone and says which call it is for.
		return d.Index == nil || !blank(args)
	}
}

// add takes up one piece and reports whether it brought anything.
func (b *building) add(d callDelta) (brought bool) {
	brought = d.Function.Arguments != ""
	if b.id == "" && d.ID != "" {
		b.id, brought = d.ID, true
	}
	if b.index == nil {
		b.index = d.Index
	}
	if name := string(d.Function.Name); name != "" && name != b.name { // some servers repeat the name with every piece
		b.name, brought = b.name+name, true
	}
	b.args.WriteString(string(d.Function.Arguments))
	b.braces.add(string(d.Function.Arguments))
	more := merge(&b.extra, d.Extra)
	return merge(&b.inFunction, d.InFunction) || more || brought
}

// merge puts fields to those that are there, and reports whether any is new.
func merge(fields *map[string]json.RawMessage, more map[string]json.RawMessage) (changed bool) {
	for name, value := range more {
		if *fields == nil {
			*fields = map[string]json.RawMessage{}
		}
		changed = changed || string((*fields)[name]) != string(value)
		(*fields)[name] = value
	}
	return changed
}

// further are the further fields of the call, as ToolCall.Extra has them; those
// of the function are in a field of its name.
func (b *building) further() (string, error) {
	fields := map[string]any{}
	for name, value := range b.extra {
		fields[name] = value
	}
	if len(b.inFunction) > 0 {
		fields[functionField] = b.inFunction
	}
	if len(fields) == 0 {
		return "", nil
	}
	extra, err := json.Marshal(fields)
	if err != nil {
		return "", fmt.Errorf("keeping the further fields of a tool call: %w", err)
	}
	return string(extra), nil
}

// list returns the calls in the order in which they began.
func (s *callSet) list() ([]model.ToolCall, error) {
	var calls []model.ToolCall
	for _, b := range s.calls {
		extra, err := b.further()
		if err != nil {
			return nil, err
		}
		calls = append(calls, model.ToolCall{ID: b.id, Name: b.name, Arguments: b.args.String(), Extra: extra})
	}
	return calls, nil
}

// blank tells arguments that say nothing, which a tool without parameters is
// called with.
func blank(args string) bool {
	args = strings.TrimSpace(args)
	return args == "" || args == "null"
}

// isObject tells arguments that are one JSON object.
func isObject(args string) bool {
	args = strings.TrimSpace(args)
	return strings.HasPrefix(args, "{") && json.Valid([]byte(args))
}
