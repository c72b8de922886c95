package main

import (
	"slices"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/trajectory"
)

// A standing is what a run has come to by its events, so that a record can be
// ended when the run itself is not waited for.
type standing struct {
	calls []trajectory.ToolCall // without a result
	turns int
	final string
	// sub is that of the sub-agent at work, and parent the call that it is
	// below; "" is none. There is one at a time.
	sub    *standing
	parent string
}

// see takes the next event.
func (s *standing) see(body trajectory.Body) {
	switch event := body.(type) {
	case trajectory.Nested:
		s.seeNested(event)
	case trajectory.Message:
		if event.Role != "assistant" {
			return
		}
		s.turns++
		if event.Text != "" {
			s.final = event.Text
		}
	case trajectory.ToolCall:
		s.calls = append(s.calls, event)
	case trajectory.ToolResult:
		s.calls = slices.DeleteFunc(s.calls, func(call trajectory.ToolCall) bool { return call.CallID == event.CallID })
	}
}

// seeNested takes the next event of a sub-agent.
func (s *standing) seeNested(event trajectory.Nested) {
	if _, ended := event.Body.(trajectory.End); ended {
		s.sub, s.parent = nil, ""
		return
	}
	if s.sub == nil || s.parent != event.Parent {
		s.sub, s.parent = &standing{}, event.Parent
	}
	s.sub.see(event.Body)
}

// abandonedCall is the result of a call that was not waited for.
const abandonedCall = "interrupted: the run was ended at once while this call ran; how much of it was done is not known"

// ending are the events that end the record as it stands: a sub-agent first, and
// then the run that waits for it.
func (s *standing) ending() []trajectory.Body {
	var bodies []trajectory.Body
	if s.sub != nil {
		for _, body := range s.sub.ended() {
			bodies = append(bodies, trajectory.Nested{Parent: s.parent, Body: body})
		}
	}
	return append(bodies, s.ended(trajectory.Notice{Kind: trajectory.NoticeHostRisk, Text: abandonedText})...)
}

// ended are the results of open calls, what else there is to tell, and the end.
func (s *standing) ended(told ...trajectory.Body) []trajectory.Body {
	var bodies []trajectory.Body
	for _, call := range s.calls {
		bodies = append(bodies, trajectory.ToolResult{
			CallID: call.CallID, Name: call.Name, Status: "interrupted", IsError: true,
			Content: []trajectory.Part{{Type: "text", Text: abandonedCall}},
		})
	}
	return append(append(bodies, told...), trajectory.End{Stop: string(agent.StopCanceled), Final: s.final, Turns: s.turns})
}
