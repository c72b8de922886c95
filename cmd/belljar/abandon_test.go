package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/agent/trajectory"
)

func TestAbandonedRecordHasItsEnd(t *testing.T) {
	memory := &trajectory.Memory{}
	record := &networkRecord{}
	if record.abandon() {
		t.Error("a record that has not begun was ended")
	}
	record.begin(memory)
	for _, body := range []trajectory.Body{
		trajectory.Message{Role: "user", Text: "the task"},
		trajectory.Message{Role: "assistant", Text: "I look."},
		trajectory.Usage{Input: 1},
		trajectory.Usage{Input: 1}, // of a summary, which is no turn
		trajectory.ToolCall{CallID: "1", Name: "bash"},
		trajectory.ToolCall{CallID: "2", Name: "bash"},
		trajectory.ToolResult{CallID: "1", Name: "bash"},
	} {
		if err := record.Record(body); err != nil {
			t.Fatal(err)
		}
	}
	before := len(memory.Bodies())
	if !record.abandon() || record.abandon() {
		t.Error("the record was not ended once")
	}
	want := []trajectory.Body{
		trajectory.ToolResult{
			CallID: "2", Name: "bash", Status: "interrupted", IsError: true,
			Content: []trajectory.Part{{Type: "text", Text: abandonedCall}},
		},
		trajectory.Notice{Kind: trajectory.NoticeHostRisk, Text: abandonedText},
		trajectory.End{Stop: "canceled", Final: "I look.", Turns: 1},
	}
	if diff := cmp.Diff(want, memory.Bodies()[before:]); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if record.Record(trajectory.Usage{}) == nil {
		t.Error("an event was recorded after the end")
	}
}

// TestAbandonedSubAgentHasItsEnd: a record that is ended while a sub-agent works
// is whole, with the sub-agent's own calls and end.
func TestAbandonedSubAgentHasItsEnd(t *testing.T) {
	memory := &trajectory.Memory{}
	record := &networkRecord{}
	record.begin(memory)
	nested := func(parent string, body trajectory.Body) trajectory.Body {
		return trajectory.Nested{Parent: parent, Body: body}
	}
	for _, body := range []trajectory.Body{
		trajectory.Message{Role: "assistant", Text: "I ask others."},
		trajectory.ToolCall{CallID: "1", Name: "agent"},
		nested("1", trajectory.Message{Role: "assistant", Text: "the first"}),
		nested("1", trajectory.ToolCall{CallID: "1", Name: "bash"}),
		nested("1", trajectory.ToolResult{CallID: "1", Name: "bash"}),
		nested("1", trajectory.End{Stop: "finished"}),
		trajectory.ToolResult{CallID: "1", Name: "agent"},
		trajectory.ToolCall{CallID: "2", Name: "agent"},
		nested("2", trajectory.Message{Role: "assistant", Text: "the second"}),
		nested("2", trajectory.ToolCall{CallID: "1", Name: "bash"}),
	} {
		if err := record.Record(body); err != nil {
			t.Fatal(err)
		}
	}
	before := len(memory.Bodies())
	record.abandon()
	open := func(id, name string) trajectory.ToolResult {
		return trajectory.ToolResult{
			CallID: id, Name: name, Status: "interrupted", IsError: true,
			Content: []trajectory.Part{{Type: "text", Text: abandonedCall}},
		}
	}
	want := []trajectory.Body{
		nested("2", open("1", "bash")),
		nested("2", trajectory.End{Stop: "canceled", Final: "the second", Turns: 1}),
		open("2", "agent"),
		trajectory.Notice{Kind: trajectory.NoticeHostRisk, Text: abandonedText},
		trajectory.End{Stop: "canceled", Final: "I ask others.", Turns: 1},
	}
	if diff := cmp.Diff(want, memory.Bodies()[before:]); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestSecondInterruptDoesTheLastAct(t *testing.T) {
	var said bytes.Buffer
	code := 0
	a := &app{stderr: &said, last: &lastAct{}, exit: func(c int) { code = c }}
	a.last.set(func() { a.notice("%s", abandonedText) })
	a.abandon(exitInterrupted)
	if code != exitInterrupted || !strings.Contains(said.String(), "belljar: interrupted twice") {
		t.Errorf("code %d, said %q", code, said.String())
	}
}

func TestSecondInterruptDoesNotWaitForWhatHangs(t *testing.T) {
	hang := make(chan struct{}) // closed when the test is over
	defer close(hang)
	code := 0
	a := &app{last: &lastAct{}, exit: func(c int) { code = c }}
	a.last.set(func() { <-hang })
	a.abandon(exitInterrupted)
	if code != exitInterrupted {
		t.Errorf("code %d", code)
	}
}
