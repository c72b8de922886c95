package openai

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/belljar/belljar/agent/model"
)

// maxCalls bounds the tool calls of one answer.
const maxCalls = 256

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
	extra    map[string]json.RawMessage
}

// addAll takes the pieces of one event.
func (s *callSet) addAll(pieces []callDelta) error {
	touched := map[*building]bool{}
	for _, d := range pieces {
		b := s.find(d)
		// Two pieces that name a tool in one event are two calls, whatever
		// their indexes say.
		again := touched[b] && d.Function.Name != "" && (d.ID == "" || d.ID != b.id)
		if b == nil || again || b.endsBefore(d) {
			if len(s.calls) == maxCalls {
				return model.Errorf(model.Permanent, "the answer asks for more than %d tool calls", maxCalls)
			}
			b = &building{index: d.Index}
			s.calls = append(s.calls, b)
		}
		b.add(d)
		touched[b], s.current = true, b
	}
	return nil
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
	name, args := d.Function.Name, string(d.Function.Arguments)
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

// add takes up one piece.
func (b *building) add(d callDelta) {
	if b.id == "" {
		b.id = d.ID
	}
	if b.index == nil {
		b.index = d.Index
	}
	if d.Function.Name != b.name { // some servers repeat the name with every piece
		b.name += d.Function.Name
	}
	b.args.WriteString(string(d.Function.Arguments))
	b.braces.add(string(d.Function.Arguments))
	if len(d.Extra) > 0 {
		if b.extra == nil {
			b.extra = map[string]json.RawMessage{}
		}
		maps.Copy(b.extra, d.Extra)
	}
}

// list returns the calls in the order in which they began.
func (s *callSet) list() ([]model.ToolCall, error) {
	var calls []model.ToolCall
	for _, b := range s.calls {
		call := model.ToolCall{ID: b.id, Name: b.name, Arguments: b.args.String()}
		if len(b.extra) > 0 {
			extra, err := json.Marshal(b.extra)
			if err != nil {
				return nil, fmt.Errorf("keeping the further fields of a tool call: %w", err)
			}
			call.Extra = string(extra)
		}
		calls = append(calls, call)
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
