package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/provider"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// longRuns is the number of random runs for each provider.
const longRuns = 4

// TestShortenedHistoryIsValid: whatever a run goes through, made shorter at any
// point, each request is what the strictest server of the kind takes, and holds
// the task and the last turn.
func TestShortenedHistoryIsValid(t *testing.T) {
	for _, p := range provider.Profiles() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			send := capture(t, p)
			compactions, tooLong := 0, 0
			for seed := range uint64(longRuns) {
				m := &rambler{story: &story{Rand: rand.New(rand.NewPCG(seed, 2))}, send: send, rules: p.Rules}
				memory := &trajectory.Memory{}
				registry := &tools.Registry{}
				if err := registry.Register(m); err != nil {
					t.Fatal(err)
				}
				a, err := agent.New(agent.Options{
					Model: m, Tools: registry, Recorder: memory, System: "Be brief.", MaxTurns: 40, ContextWindow: m.IntN(2) * (4000 + m.IntN(8000)),
				})
				if err != nil {
					t.Fatal(err)
				}
				outcome, err := a.Run(t.Context(), task)
				if m.wrong != nil {
					t.Fatalf("seed %d: %v, error %v", seed, m.wrong, err)
				}
				if outcome.Stop == agent.StopMaxContext {
					tooLong++
				}
				for _, body := range memory.Bodies() {
					if n, ok := body.(trajectory.Notice); ok && n.Kind == trajectory.NoticeCompacted {
						compactions++
					}
				}
			}
			if compactions < longRuns || tooLong > longRuns/2 {
				t.Errorf("%d compactions in %d runs, of which %d were too long", compactions, longRuns, tooLong)
			}
		})
	}
}

const task = "The task, word for word."

// A rambler is a model that says and asks for anything, and the tool that it
// asks. As a model it checks each request by what a strict server takes.
type rambler struct {
	*story
	send  func(model.Request) []byte
	rules provider.Rules
	said  string // the last answer that was not empty
	calls []model.ToolCall
	wrong error
}

func (m *rambler) Name() string { return "rambler" }

func (m *rambler) Generate(_ context.Context, req model.Request, _ func(string)) (model.Response, error) {
	if err := m.check(req); err != nil && m.wrong == nil {
		m.wrong = err
	}
	switch {
	case m.wrong != nil:
		return model.Response{}, m.wrong
	case m.IntN(20) == 0 && model.EstimateUsage(req, model.Response{}).Input > 6000:
		return model.Response{}, model.Errorf(model.Context, "too long")
	case len(req.Tools) == 0:
		return model.Response{Text: m.mark(), Finish: model.FinishStop}, nil
	}
	resp := model.Response{Text: []string{"", m.mark()}[m.IntN(2)], Reasoning: "thought", Finish: model.FinishToolCalls}
	for range m.IntN(4) {
		c := m.call()
		c.Name, c.Arguments = "read", fmt.Sprintf(`{"n":%d}`, m.n)
		resp.Calls = append(resp.Calls, c)
	}
	if m.IntN(10) == 0 {
		resp.Finish = model.FinishLength
	} else if len(resp.Calls) == 0 {
		resp.Calls = append(resp.Calls, model.ToolCall{Name: "read", Arguments: fmt.Sprintf(`{"n":%d}`, m.n)})
	}
	if m.IntN(3) > 0 {
		resp.Usage = model.Usage{Input: model.EstimateUsage(req, resp).Input, Output: 10}
	}
	model.AssignIDs(req.Messages, resp.Calls)
	m.said, m.calls = resp.Text, resp.Calls
	return resp, nil
}

func (m *rambler) Definition() tools.Definition {
	return tools.Definition{Name: "read", Description: "A tool.", Effect: tools.Read, Schema: &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{"n": {Type: "integer"}},
	}}
}

// Execute gives a text, most often a long one.
func (m *rambler) Execute(_ context.Context, args json.RawMessage) (tools.Result, error) {
	return tools.Text(strings.Repeat(fmt.Sprintf("line of %s\n", args), 1+len(args)*7919%300)), nil
}

// check looks at a request.
func (m *rambler) check(req model.Request) error {
	sent := m.send(req)
	if err := validate(sent, m.rules, req); err != nil {
		return fmt.Errorf("%w\n%s", err, sent)
	}
	if diff := cmp.Diff(model.Repair(req.Messages), model.Repair(model.Repair(req.Messages))); diff != "" {
		return fmt.Errorf("not repaired at once: %s", diff)
	}
	if len(req.Tools) == 0 { // for a summary
		if !strings.Contains(req.Messages[0].Text, task) {
			return fmt.Errorf("the task is not summed up: %s", sent)
		}
		return nil
	}
	if req.Messages[0].Role != model.User || req.Messages[0].Text != task {
		return fmt.Errorf("the task is not first: %s", sent)
	}
	if strings.Contains(string(sent), model.Interrupted) {
		return fmt.Errorf("a result was lost: %s", sent)
	}
	return m.checkLast(req)
}

// checkLast finds the last turn.
func (m *rambler) checkLast(req model.Request) error {
	last := -1
	for i, msg := range req.Messages {
		if msg.Role == model.Assistant {
			last = i
		}
	}
	if m.said == "" && len(m.calls) == 0 {
		return nil
	}
	if last < 0 || req.Messages[last].Text != m.said || len(req.Messages[last].Calls) != len(m.calls) {
		return fmt.Errorf("the last turn is not %q with %d calls", m.said, len(m.calls))
	}
	for i, c := range m.calls {
		result := req.Messages[last+1+i]
		whole, _ := m.Execute(context.Background(), json.RawMessage(c.Arguments))
		if c.Arguments != req.Messages[last].Calls[i].Arguments || result.Role != model.Tool {
			return fmt.Errorf("call %d of the last turn is %+v, followed by %+v", i, req.Messages[last].Calls[i], result)
		}
		text := result.Parts[0].Text
		if text != whole.Parts[0].Text && !strings.Contains(text, "not run:") && !strings.Contains(text, "are left out here to save room") {
			return fmt.Errorf("result %d of the last turn is %q", i, text)
		}
	}
	return nil
}
