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
}

// see takes the next event.
func (s *standing) see(body trajectory.Body) {
	switch event := body.(type) {
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

// abandonedCall is the result of a call that was not waited for.
const abandonedCall = "interrupted: the run was ended at once while this call ran; how much of it was done is not known"

// ending are the events that end the record as it stands.
func (s *standing) ending() []trajectory.Body {
	var bodies []trajectory.Body
	for _, call := range s.calls {
		bodies = append(bodies, trajectory.ToolResult{
			CallID: call.CallID, Name: call.Name, Status: "interrupted", IsError: true,
			Content: []trajectory.Part{{Type: "text", Text: abandonedCall}},
		})
	}
	return append(bodies,
		trajectory.Notice{Kind: trajectory.NoticeHostRisk, Text: abandonedText},
		trajectory.End{Stop: string(agent.StopCanceled), Final: s.final, Turns: s.turns})
}
