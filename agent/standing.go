package agent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/belljar/belljar/agent/model"
)

// standingText tells the model of the calls that stand for messages that are gone,
// in at most about so many bytes of their arguments. What a tool bounds may still
// be much beside a small window, so what has no room is cut or left out.
func (r *run) standingText(calls []model.ToolCall, most int) string {
	var text strings.Builder
	for _, call := range calls {
		arguments, part := mark(cleanText(call.Arguments)), most/len(calls)
		switch {
		case len(arguments) <= part:
			fmt.Fprintf(&text, "\n\n[Your newest call of %s up to here, word for word. It stands until you make another one:]\n\n%s", call.Name, arguments)
		case part >= leastOfOne:
			fmt.Fprintf(&text, "\n\n[Your newest call of %s up to here, cut in its middle to save room. It stands; "+
				"make another one with less in it, to see it whole:]\n\n%s", call.Name, mark(r.clip(call.Arguments, part)))
		default:
			fmt.Fprintf(&text, "\n\n[Your newest call of %s up to here is left out to save room. It stands; "+
				"make another one with less in it, to see it.]", call.Name)
		}
	}
	return text.String()
}

// leaveStandingOut takes the calls that stand out of what is told, and keeps what
// they are: a run ends for want of room only when they are gone as well.
func (r *run) leaveStandingOut(c *compaction) error {
	now := r.window.summed
	told := r.standingText(now.standing, 0)
	if len(told) >= len(now.told) {
		return nil
	}
	now.told = told
	c.done = append(c.done, plural(len(now.standing), "standing call")+" left out")
	return r.replace(2, now)
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
