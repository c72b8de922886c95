package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/jsonschema-go/jsonschema"
)

var _ agent.Tools = (*tools.Registry)(nil)

// A scripted model answers with one func after another, the last one for ever.
type scripted struct {
	turns []func(ctx context.Context, req model.Request) (model.Response, error)

	mu       sync.Mutex
	requests []model.Request
}

func (s *scripted) Name() string { return "scripted" }

func (s *scripted) Generate(ctx context.Context, req model.Request, onText func(string)) (model.Response, error) {
	s.mu.Lock()
	n := min(len(s.requests), len(s.turns)-1)
	req.Messages = append([]model.Message(nil), req.Messages...)
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	if ctx.Err() != nil {
		return model.Response{}, context.Cause(ctx)
	}
	resp, err := s.turns[n](ctx, req)
	if err == nil && onText != nil && resp.Text != "" {
		onText(resp.Text)
	}
	model.AssignIDs(req.Messages, resp.Calls)
	return resp, err
}

// answers makes a scripted model of fixed answers.
func answers(responses ...model.Response) *scripted {
	s := &scripted{}
	for _, resp := range responses {
		s.turns = append(s.turns, func(context.Context, model.Request) (model.Response, error) {
			resp.Usage = model.Usage{Input: 10, Output: 5}
			resp.Calls = append([]model.ToolCall(nil), resp.Calls...)
			return resp, nil
		})
	}
	return s
}

func says(text string) model.Response { return model.Response{Text: text, Finish: model.FinishStop} }

func asks(calls ...model.ToolCall) model.Response {
	return model.Response{Calls: calls, Finish: model.FinishToolCalls}
}

func call(name, args string) model.ToolCall { return model.ToolCall{Name: name, Arguments: args} }

// A tool does what its func does.
type tool struct {
	name   string
	effect tools.Effect
	run    func(ctx context.Context, args json.RawMessage) (tools.Result, error)
}

func (t tool) Definition() tools.Definition {
	fields := map[string]*jsonschema.Schema{"n": {Type: "integer"}, "text": {Type: "string"}}
	return tools.Definition{
		Name: t.name, Description: "A tool.", Effect: t.effect,
		Schema: &jsonschema.Schema{Type: "object", Properties: fields, PropertyOrder: []string{"n", "text"}},
	}
}

func (t tool) Execute(ctx context.Context, args json.RawMessage) (tools.Result, error) {
	return t.run(ctx, args)
}

// echo is a tool that answers with its arguments.
func echo(name string, effect tools.Effect) tool {
	return tool{name, effect, func(_ context.Context, args json.RawMessage) (tools.Result, error) {
		return tools.Text(string(args)), nil
	}}
}

func registry(t *testing.T, all ...tools.Tool) *tools.Registry {
	t.Helper()
	r := new(tools.Registry)
	for _, tool := range all {
		if err := r.Register(tool); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// newAgent makes an agent and the memory that it records to.
func newAgent(t *testing.T, m model.Model, set *tools.Registry, change ...func(*agent.Options)) (*agent.Agent, *trajectory.Memory) {
	t.Helper()
	memory := &trajectory.Memory{}
	o := agent.Options{Model: m, Tools: set, Recorder: memory}
	for _, f := range change {
		f(&o)
	}
	a, err := agent.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a, memory
}

// story writes a record in short, one line an event.
func story(memory *trajectory.Memory) []string {
	var lines []string
	for _, body := range memory.Bodies() {
		switch b := body.(type) {
		case trajectory.Start:
			lines = append(lines, "start "+b.Task)
		case trajectory.Message:
			lines = append(lines, b.Role+": "+b.Text)
		case trajectory.ToolCall:
			lines = append(lines, fmt.Sprintf("call %s %s %s", b.CallID, b.Name, b.Arguments))
		case trajectory.ToolResult:
			text := ""
			for _, p := range b.Content {
				text += p.Text + p.MediaType
			}
			lines = append(lines, fmt.Sprintf("result %s %s %s", b.CallID, b.Status, text))
		case trajectory.Notice:
			lines = append(lines, "notice "+b.Kind)
		case trajectory.Approval:
			lines = append(lines, fmt.Sprintf("approval %s %s %s", b.CallID, b.Decision, b.Reason))
		case trajectory.Usage:
			lines = append(lines, fmt.Sprintf("usage %d %d", b.Input, b.Output))
		case trajectory.End:
			lines = append(lines, fmt.Sprintf("end %s %d %s", b.Stop, b.Turns, b.Final))
		}
	}
	return lines
}

// without drops the events that are the same in every story.
func without(lines []string, prefixes ...string) []string {
	var kept []string
next:
	for _, line := range lines {
		for _, prefix := range prefixes {
			if len(line) >= len(prefix) && line[:len(prefix)] == prefix {
				continue next
			}
		}
		kept = append(kept, line)
	}
	return kept
}

// withoutSpent leaves what a run used up out of the comparison of its end.
func withoutSpent() cmp.Option {
	return cmpopts.IgnoreFields(trajectory.End{}, "Requests", "Waits", "WaitedMS", "Usage")
}

// unnested is the body of an event, whoever's it is.
func unnested(body trajectory.Body) trajectory.Body {
	inner, _ := trajectory.Unnest(body)
	return inner
}
