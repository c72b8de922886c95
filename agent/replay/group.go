package replay

import (
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/belljar/belljar/agent/trajectory"
)

// A step is one recorded call and its result, nil where there is none on
// record.
type step struct {
	seq          int
	parent       string // the call of the agent that asked for it; "" for the run's own
	call         trajectory.ToolCall
	result       *trajectory.ToolResult
	began, ended time.Time // when the two were recorded
}

// describe is what is told of a step that is not run for the reason why, or is
// where that is "".
func (s *step) describe(why string) Call {
	call := Call{
		Seq: s.seq, Parent: s.parent, CallID: s.call.CallID, Name: s.call.Name, Arguments: s.call.Arguments,
	}
	if s.result != nil {
		call.RecordedMS = s.result.DurationMS
	}
	if why != "" {
		call.Outcome, call.Why = NotRun, why
	}
	return call
}

// hidden tells whether the arguments are not on record as they were.
func (s *step) hidden() bool { return strings.Contains(s.call.Arguments, trajectory.Hidden) }

// A grouper finds the calls of a record that ran side by side: all of them are
// on record before the first of their results. It holds no more than the calls
// that have no result yet.
type grouper struct {
	reader *trajectory.Reader
	open   [][]*step // not all of whose results were read, in the order of their start
	join   bool      // the next call ran beside the last one
	ended  bool      // there was an end
	over   bool      // all was read
}

// next returns the next group, in the order in which they ended; what has no
// result comes last. After the last one it returns io.EOF.
func (g *grouper) next() ([]*step, error) {
	for !g.over {
		event, err := g.reader.Next()
		if errors.Is(err, io.EOF) {
			g.over = true
			break
		}
		if err != nil {
			return nil, err
		}
		if group := g.take(event); group != nil {
			return group, nil
		}
	}
	if len(g.open) == 0 {
		return nil, io.EOF
	}
	group := g.open[0]
	g.open = g.open[1:]
	return group, nil
}

// take takes one event, and gives the group that it completes. Calls of
// sub-agents are calls as well; each agent's own ran side by side at most.
func (g *grouper) take(event trajectory.Event) []*step {
	inner, parent := trajectory.Unnest(event.Body)
	switch body := inner.(type) {
	case trajectory.ToolCall:
		s := &step{seq: event.Seq, parent: parent, call: body, began: event.Time, ended: event.Time}
		if last := len(g.open) - 1; g.join && last >= 0 && g.open[last][0].parent == parent {
			g.open[last] = append(g.open[last], s)
		} else {
			g.open = append(g.open, []*step{s})
		}
		g.join = true
	case trajectory.ToolResult:
		g.join = false
		return g.answer(body, parent, event.Time)
	case trajectory.Message:
		g.join = false
	case trajectory.End:
		g.ended = g.ended || parent == ""
	}
	return nil
}

// answer gives a result to its call, the last one of that id that has none.
func (g *grouper) answer(result trajectory.ToolResult, parent string, at time.Time) []*step {
	for i := len(g.open) - 1; i >= 0; i-- {
		for _, s := range g.open[i] {
			if s.result != nil || s.parent != parent || s.call.CallID != result.CallID {
				continue
			}
			s.result, s.ended = &result, at
			group := g.open[i]
			if slices.ContainsFunc(group, func(s *step) bool { return s.result == nil }) {
				return nil
			}
			g.open = slices.Delete(g.open, i, i+1)
			return group
		}
	}
	return nil // a result without a call is damage that nothing depends on
}
