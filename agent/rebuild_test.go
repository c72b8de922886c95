package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/google/go-cmp/cmp"
)

// TestRecordRebuilds: from the record alone comes what the model was shown, at
// each request, whatever was made shorter.
func TestRecordRebuilds(t *testing.T) {
	for name, test := range map[string]struct{ window, limit, looks, beside, size int }{
		"summaries":       {16_000, 16_000, 60, 1, 3000},
		"refusals":        {0, 9000, 20, 2, 9000},
		"all summed up":   {6000, 6000, 3, 40, 3000},
		"nothing at once": {8192, 8192, 20, 1, 30_000},
	} {
		t.Run(name, func(t *testing.T) {
			var memory *trajectory.Memory
			compactions := 0
			m := &narrow{limit: test.limit, looks: test.looks, beside: test.beside}
			m.check = func(req model.Request) {
				want := rebuild(memory)
				if diff := cmp.Diff(want, shapes(req.Messages)); diff != "" {
					t.Errorf("conversation (-from the record +asked):\n%s", diff)
				}
				compactions = len(notices(memory, trajectory.NoticeCompacted))
			}
			var a *agent.Agent
			a, memory = newAgent(t, m, registry(t, look(test.size)), func(o *agent.Options) {
				o.ContextWindow, o.System, o.MaxTurns = test.window, realPrompt, 100
			})
			if outcome, err := a.Run(t.Context(), "the task"); err != nil || outcome.Stop != agent.StopFinished {
				t.Fatalf("ended as %s, error %v", outcome.Stop, err)
			}
			if compactions == 0 {
				t.Error("nothing was made shorter")
			}
		})
	}
}

// shapes are messages as a record tells them: texts, calls, and results as far
// as they are whole.
func shapes(messages []model.Message) []string {
	var lines []string
	for _, m := range messages {
		line := string(m.Role) + " " + m.Text
		for _, c := range m.Calls {
			line += " " + c.ID + c.Name + c.Arguments
		}
		for _, p := range m.Parts {
			head, rest, cut := strings.Cut(p.Text, "\n[")
			line += " " + m.CallID + " " + head
			if _, tail, _ := strings.Cut(rest, "]\n"); cut {
				line += fmt.Sprintf(" … %.10s %d", tail[max(len(tail)-10, 0):], (len(head)+len(tail))/100)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// rebuild makes the conversation from the record.
func rebuild(memory *trajectory.Memory) []string {
	var messages []model.Message
	wholes := map[string]string{}
	for _, body := range memory.Bodies() {
		switch b := body.(type) {
		case trajectory.Message:
			messages = append(messages, model.Message{Role: model.Role(b.Role), Text: b.Text})
		case trajectory.ToolCall:
			for i := len(messages) - 1; i >= 0; i-- {
				if messages[i].Role == model.Assistant {
					messages[i].Calls = append(messages[i].Calls, model.ToolCall{ID: b.CallID, Name: b.Name, Arguments: b.Arguments})
					break
				}
			}
		case trajectory.ToolResult:
			wholes[b.CallID] = b.Content[0].Text
			messages = append(messages, model.Message{Role: model.Tool, CallID: b.CallID, Parts: []model.Part{{Text: b.Content[0].Text}}})
		case trajectory.Notice:
			if b.Kind == trajectory.NoticeSummary {
				messages = append([]model.Message{messages[0], {Role: model.User, Text: b.Text}}, messages[1+b.Messages:]...)
			}
			for _, s := range b.Shortened {
				for _, id := range s.Calls {
					for i := range messages {
						if messages[i].CallID == id {
							messages[i].Parts = []model.Part{{Text: cutTo(wholes[id], s.Kept)}}
						}
					}
				}
			}
		}
	}
	return shapes(messages)
}

// cutTo is a page in lines of the same length, cut at line ends.
func cutTo(text string, kept int) string {
	head, tail := text[:kept*2/5], text[len(text)-kept*3/5:]
	head = head[:strings.LastIndexByte(head, '\n')]
	_, tail, _ = strings.Cut(tail, "\n")
	return head + "\n[…]\n" + tail
}
