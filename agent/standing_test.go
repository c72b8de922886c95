package agent_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
	gocmp "github.com/google/go-cmp/cmp"
)

// A planner is a narrow model that also writes down its steps, in turns of its
// choice.
type planner struct {
	narrow
	lists map[int]string // by turn, what it writes
}

func (p *planner) Generate(ctx context.Context, req model.Request, onText func(string)) (model.Response, error) {
	resp, err := p.narrow.Generate(ctx, req, onText)
	if list, writes := p.lists[p.turns]; err == nil && writes && len(req.Tools) > 0 && len(resp.Calls) > 0 {
		resp.Calls = append(resp.Calls, call("todo", list))
		model.AssignIDs(req.Messages, resp.Calls)
		resp.Usage.Output = model.EstimateUsage(req, resp).Output
	}
	return resp, err
}

// plan is a list of steps of which so many are completed, with what a list may
// hold.
func plan(completed, steps int) string {
	var list []string
	for i := range steps {
		status := "pending"
		if i < completed {
			status = "completed"
		}
		list = append(list, fmt.Sprintf(`{"content":"step %d: \"ü\" & <it>","status":%q}`, i, status))
	}
	return `{"items":[` + strings.Join(list, ",") + "]}"
}

// TestNewestListStands: whatever is made shorter, the last list that the model
// sees is the newest one that was taken, word for word.
func TestNewestListStands(t *testing.T) {
	for name, test := range map[string]struct {
		window, limit, looks, beside int
		lists                        map[int]string
	}{
		"one, early":          {window: 16_000, limit: 16_000, looks: 60, lists: map[int]string{2: plan(0, 5)}},
		"several":             {window: 16_000, limit: 16_000, looks: 60, lists: map[int]string{2: plan(0, 9), 20: plan(4, 9), 41: plan(8, 9)}},
		"each turn":           {window: 16_000, limit: 16_000, looks: 40, lists: eachTurn(40)},
		"wrong ones between":  {window: 16_000, limit: 16_000, looks: 60, lists: map[int]string{2: plan(0, 5), 9: `{"items":[{"content":"","status":"pending"}]}`, 30: `{"items":`}},
		"emptied":             {window: 16_000, limit: 16_000, looks: 60, lists: map[int]string{2: plan(0, 5), 20: `{"items":[]}`}},
		"many steps":          {window: 16_000, limit: 16_000, looks: 60, lists: map[int]string{2: plan(3, 50)}},
		"the longest":         {window: 32_000, limit: 32_000, looks: 90, lists: map[int]string{2: longPlan()}},
		"only refusals tell":  {limit: 12_000, looks: 40, lists: map[int]string{2: plan(1, 5), 15: plan(2, 5)}},
		"much in each answer": {window: 12_000, limit: 12_000, looks: 12, beside: 6, lists: map[int]string{2: plan(1, 5), 4: plan(2, 5)}},
	} {
		t.Run(name, func(t *testing.T) {
			var memory *trajectory.Memory
			m := &planner{narrow: narrow{limit: test.limit, looks: test.looks, beside: test.beside}, lists: test.lists}
			m.check = func(req model.Request) {
				newest := newestList(memory)
				if newest != "" && lastSeen(req.Messages) != newest {
					t.Errorf("turn %d: the last list that the model sees is %.300q, want %.300q", m.turns, lastSeen(req.Messages), newest)
				}
				if diff := gocmp.Diff(rebuild(memory), shapes(req.Messages)); diff != "" {
					t.Errorf("conversation (-from the record +asked):\n%s", diff)
				}
			}
			var a *agent.Agent
			a, memory = newAgent(t, m, registry(t, look(3000), tools.NewTodo()), func(o *agent.Options) {
				o.ContextWindow, o.System, o.MaxTurns = test.window, realPrompt, 100
			})
			if outcome, err := a.Run(t.Context(), "the task"); err != nil || outcome.Stop != agent.StopFinished {
				t.Fatalf("ended as %s, error %v", outcome.Stop, err)
			}
			if n := len(notices(memory, trajectory.NoticeSummary)); n < 2 {
				t.Errorf("%d summaries", n)
			}
			if asked := m.summed[len(m.summed)-1]; strings.Contains(asked, "until you make another one") {
				t.Errorf("the list is summed up as well: %q", asked)
			}
		})
	}
}

// longPlan is a list of as much as one may hold.
func longPlan() string {
	list := plan(0, 45)
	return strings.ReplaceAll(list, "<it>", strings.Repeat("x", (tools.MaxTodoBytes-len(list))/45))
}

// TestLongListGivesWay: a list that is much beside what the model takes is cut or
// left out, which is told, before a run ends for it or asks for ever more
// summaries.
func TestLongListGivesWay(t *testing.T) {
	for name, test := range map[string]struct {
		window, dense, page int
		told                string
	}{
		"8,000":                  {8000, 1, 2000, "cut in its middle"},
		"9,000":                  {9000, 1, 2000, "cut in its middle"},
		"7,000, counted twice":   {7000, 2, 2000, "to save room"},
		"8,000, counted twice":   {8000, 2, 2000, "to save room"},
		"9,000, counted thrice":  {9000, 3, 2000, "to save room"},
		"10,000, counted thrice": {10_000, 3, 2000, "to save room"},
		"only refusals tell":     {0, 2, 2000, "to save room"},
	} {
		t.Run(name, func(t *testing.T) {
			summaries := map[bool]int{}
			for _, writes := range []bool{false, true} {
				m := &planner{narrow: narrow{limit: cmp.Or(test.window, 12_000), dense: test.dense, looks: 30}}
				if writes {
					m.lists = map[int]string{2: longPlan()}
				}
				var memory *trajectory.Memory
				m.check = func(req model.Request) {
					if diff := gocmp.Diff(rebuild(memory), shapes(req.Messages)); diff != "" {
						t.Errorf("conversation (-from the record +asked):\n%s", diff)
					}
				}
				var a *agent.Agent
				a, memory = newAgent(t, m, registry(t, look(test.page), tools.NewTodo()), func(o *agent.Options) {
					o.ContextWindow, o.System, o.MaxTurns = test.window, realPrompt, 100
				})
				if outcome, err := a.Run(t.Context(), "the task"); err != nil || outcome.Stop != agent.StopFinished {
					t.Fatalf("with a list %t: ended as %s after %d turns, error %v", writes, outcome.Stop, outcome.Turns, err)
				}
				told := notices(memory, trajectory.NoticeSummary)
				summaries[writes] = len(told)
				if writes && !strings.Contains(told[len(told)-1], test.told) {
					t.Errorf("the last summary says %q", told[len(told)-1])
				}
			}
			if summaries[true] > summaries[false]*3/2+2 {
				t.Errorf("%d summaries, and %d without the list", summaries[true], summaries[false])
			}
		})
	}
}

func eachTurn(turns int) map[int]string {
	lists := map[int]string{}
	for i := range turns {
		lists[i] = plan(i%7, 7) + strings.Repeat(" ", i) // each another one
	}
	return lists
}

// newestList is the newest list that was taken, by the record.
func newestList(memory *trajectory.Memory) string {
	calls, newest := map[string]string{}, ""
	for _, body := range memory.Bodies() {
		switch b := body.(type) {
		case trajectory.ToolCall:
			calls[b.CallID] = b.Arguments
		case trajectory.ToolResult:
			if b.Name == "todo" && !b.IsError {
				newest = calls[b.CallID]
			}
		}
	}
	return newest
}

// lastSeen is the last list in a conversation that was not refused: the
// arguments of a call, or what is told of one.
func lastSeen(messages []model.Message) string {
	calls, last := map[string]string{}, ""
	for _, m := range messages {
		if _, told, there := strings.Cut(m.Text, "until you make another one:]\n\n> "); there {
			last = told
		}
		for _, c := range m.Calls {
			if c.Name == "todo" {
				calls[c.ID] = c.Arguments
			}
		}
		if list, is := calls[m.CallID]; is && m.Role == model.Tool && !m.IsError {
			last = list
		}
	}
	return last
}
