package agent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/belljar/belljar/agent/model"
)

// standingText tells the model of a call that stands for a message that is gone.
func standingText(call model.ToolCall) string {
	return fmt.Sprintf("\n\n[Your newest call of %s up to here, word for word. It stands until you make another one:]\n\n%s", call.Name, mark(cleanText(call.Arguments)))
}

// standingSize is how long that is for several calls, in bytes.
func standingSize(calls []model.ToolCall) int {
	size := 0
	for _, call := range calls {
		size += len(standingText(call))
	}
	return size
}

// standing are the calls that still stand when the messages before another one
// are gone: of each tool whose newest call stands that one, unless a message that
// stays has it, or a newer one.
func (r *run) standing(upTo int) []model.ToolCall {
	newest := map[string]model.ToolCall{}
	for _, call := range r.window.summed.standing {
		newest[call.Name] = call
	}
	failed := r.failedCalls()
	for i, m := range r.history {
		for _, call := range m.Calls {
			switch {
			case !r.stands[call.Name] || failed[call.ID]:
			case i < upTo:
				newest[call.Name] = model.ToolCall{Name: call.Name, Arguments: call.Arguments}
			default:
				delete(newest, call.Name)
			}
		}
	}
	return slices.SortedFunc(maps.Values(newest), func(a, b model.ToolCall) int { return cmp.Compare(a.Name, b.Name) })
}

// failedCalls are the ids of the calls that changed nothing.
func (r *run) failedCalls() map[string]bool {
	failed := map[string]bool{}
	for _, m := range r.history {
		if m.Role == model.Tool && m.IsError {
			failed[m.CallID] = true
		}
	}
	return failed
}
