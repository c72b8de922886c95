package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/leaktest"
	"github.com/belljar/belljar/tools"
	"github.com/google/go-cmp/cmp"
)

// withSubAgents adds the tool agent to a set. What sub-agents may call is made
// anew for each.
func withSubAgents(t *testing.T, set *tools.Registry, maxTurns int, own func() agent.SubAgent) *tools.Registry {
	t.Helper()
	tool, err := agent.NewSubAgents(agent.SubOptions{
		New: func() (agent.SubAgent, error) { return own(), nil }, MaxTurns: maxTurns,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Register(tool); err != nil {
		t.Fatal(err)
	}
	return set
}

// looking is a sub-agent that can look and write.
func looking(t *testing.T) func() agent.SubAgent {
	return func() agent.SubAgent {
		return agent.SubAgent{Tools: registry(t, echo("look", tools.Read), echo("write", tools.Write)), System: "You are a sub-agent."}
	}
}

func delegate(task string) model.Response {
	return asks(call("agent", fmt.Sprintf(`{"task":%q}`, task)))
}

// below are the events below a call, as a record of their own.
func below(memory *trajectory.Memory, parent string) *trajectory.Memory {
	sub := &trajectory.Memory{}
	for _, body := range memory.Bodies() {
		if inner, of := trajectory.Unnest(body); of == parent && parent != "" {
			_ = sub.Record(inner)
		}
	}
	return sub
}

// TestSubAgent: a sub-agent has a conversation of its own, of which the agent
// sees the last answer, and the record all.
func TestSubAgent(t *testing.T) {
	m := answers(
		model.Response{Text: "I ask.", Calls: []model.ToolCall{call("agent", `{"task":"Find \u001b[1mit"}`)}, Finish: model.FinishToolCalls},
		asks(call("look", `{"n":1}`)), says("It is here."), says("Done."),
	)
	closed := 0
	set := withSubAgents(t, registry(t, echo("look", tools.Read)), 0, func() agent.SubAgent {
		own := looking(t)()
		own.Closing = func() []trajectory.Notice { return []trajectory.Notice{{Kind: trajectory.NoticeJobs, Text: "a job"}} }
		own.Close = func() error { closed++; return nil }
		return own
	})
	var said strings.Builder
	a, memory := newAgent(t, m, set, func(o *agent.Options) {
		o.System, o.OnText = "You are an agent.", func(text string) { said.WriteString(text + "|") }
		o.Opening = []trajectory.Notice{{Kind: "opening"}}
		o.BeforeEnd = func() error { return nil }
		o.Price = &model.Price{Rates: model.Rates{Input: 1e6}}
	})
	outcome, err := a.Run(t.Context(), "Mend it")
	if err != nil || outcome.Stop != agent.StopFinished || outcome.Final != "Done." || outcome.Turns != 2 {
		t.Fatalf("%+v, error %v", outcome, err)
	}
	if outcome.Requests != 4 || outcome.Usage != (model.Usage{Input: 40, Output: 20}) || *outcome.Cost != 40 {
		t.Errorf("it used %+v, and cost %v", outcome.Spent, *outcome.Cost)
	}
	if said.String() != "I ask.|Done.|" || closed != 1 {
		t.Errorf("said %q, closed %d times", said.String(), closed)
	}
	id := m.requests[3].Messages[1].Calls[0].ID
	answer := "It is here.\n[the sub-agent completed its task after 2 turns]"
	if diff := cmp.Diff([]string{
		"start Mend it", "user: Mend it", "notice opening", "assistant: I ask.", "usage 10 5", `call ` + id + ` agent {"task":"Find \u001b[1mit"}`,
		"result " + id + " ok " + answer, "assistant: Done.", "usage 10 5", "end finished 2 Done.",
	}, story(memory)); diff != "" {
		t.Errorf("the run's own record (-want +got):\n%s", diff)
	}
	sub := below(memory, id)
	own := m.requests[2].Messages[1].Calls[0].ID
	if diff := cmp.Diff([]string{
		"start Find it", "user: Find it", "assistant: ", "usage 10 5", "call " + own + ` look {"n":1}`, "result " + own + ` ok {"n":1}`,
		"assistant: It is here.", "usage 10 5", "notice jobs", "end finished 2 It is here.",
	}, story(sub)); diff != "" {
		t.Errorf("the sub-agent's record (-want +got):\n%s", diff)
	}
	checkPairs(t, memory)
	checkPairs(t, sub)
	for n, want := range []string{"You are an agent.", "You are a sub-agent.", "You are a sub-agent.", "You are an agent."} {
		if got := m.requests[n].System; got != want {
			t.Errorf("request %d has the prompt %q", n, got)
		}
	}
	if first := m.requests[1]; len(first.Messages) != 1 || first.Messages[0].Text != "Find it" || len(first.Tools) != 2 {
		t.Errorf("the sub-agent was asked %+v", first)
	}
	last := m.requests[3].Messages
	if len(last) != 3 || last[2].Parts[0].Text != answer || last[2].IsError {
		t.Errorf("the agent was told %+v", last)
	}
	checkSums(t, memory, outcome)
	end := memory.Bodies()[len(memory.Bodies())-1].(trajectory.End)
	if end.Requests != 4 || end.Usage.Input != 40 || *end.Usage.CostUSD != 40 {
		t.Errorf("the run ends with %+v", end)
	}
}

// TestSubAgentsInOrder: of several calls in one answer each sub-agent has ended
// before the next begins, and so has what only looks.
func TestSubAgentsInOrder(t *testing.T) {
	m := answers(
		asks(call("agent", `{"task":"one"}`), call("look", "{}"), call("agent", `{"task":"two"}`)),
		says("first"), says("second"), says("Done."),
	)
	a, memory := newAgent(t, m, withSubAgents(t, registry(t, echo("look", tools.Read)), 0, looking(t)))
	if outcome, err := a.Run(t.Context(), "go"); err != nil || outcome.Stop != agent.StopFinished {
		t.Fatalf("ended as %s, error %v", outcome.Stop, err)
	}
	var order []string
	for _, body := range memory.Bodies() {
		inner, parent := trajectory.Unnest(body)
		switch b := inner.(type) {
		case trajectory.ToolCall:
			order = append(order, parent+"call "+b.Name)
		case trajectory.ToolResult:
			order = append(order, parent+"result "+b.Name)
		case trajectory.Message:
			if parent != "" && b.Role == "assistant" {
				order = append(order, b.Text)
			}
		}
	}
	want := []string{"call agent", "first", "result agent", "call look", "result look", "call agent", "second", "result agent"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// TestSubAgentEnds: however a sub-agent ends, the agent is told how and goes on.
func TestSubAgentEnds(t *testing.T) {
	look := func(ctx context.Context, req model.Request) (model.Response, error) {
		return model.Response{Text: "I look.", Calls: []model.ToolCall{call("look", fmt.Sprintf(`{"n":%d}`, len(req.Messages)))}, Finish: model.FinishToolCalls}, nil
	}
	fails := func(kind model.Kind) func(context.Context, model.Request) (model.Response, error) {
		return func(context.Context, model.Request) (model.Response, error) {
			return model.Response{}, model.Errorf(kind, "the server says no")
		}
	}
	for name, test := range map[string]struct {
		args   string
		answer func(context.Context, model.Request) (model.Response, error)
		status string
		told   string
	}{
		"max_turns":   {`{"task":"x","max_turns":3}`, look, "max_turns", "did not complete its task; after 3 turns it ended as max_turns: it has had its turns;"},
		"clamped":     {`{"task":"x","max_turns":3000}`, look, "max_turns", "\nWhat it said last:\nI look.\n[max_turns was more than are left for sub-agents: it had 40]"},
		"a decimal":   {`{"task":"x","max_turns":3.0}`, look, "max_turns", "after 3 turns it ended as max_turns"},
		"an exponent": {`{"task":"x","max_turns":1e1}`, look, "max_turns", "after 10 turns it ended as max_turns"},
		"immense":     {`{"task":"x","max_turns":1e300}`, look, "max_turns", "\n[max_turns was more than are left for sub-agents: it had 40]"},
		"a fraction":  {`{"task":"x","max_turns":2.5}`, look, "error", "max_turns"},
		"default":     {`{"task":"x"}`, look, "max_turns", "after 25 turns it ended as max_turns"},
		"stuck": {`{"task":"x"}`, func(context.Context, model.Request) (model.Response, error) { return asks(call("look", "{}")), nil },
			"stuck", "it ended as stuck: it went round in circles"},
		"model":    {`{"task":"x"}`, fails(model.Auth), "model_error", "after 0 turns it ended as model_error: the server says no. What"},
		"refused":  {`{"task":"x"}`, fails(model.Filtered), "refused", "it ended as refused: the server says no"},
		"no turns": {`{"task":"x","max_turns":0}`, look, "error", "max_turns must be more than 0"},
		"no task":  {`{"task":"  "}`, look, "error", "task is empty"},
		"wrong":    {`{"task":"x","model":"y"}`, look, "error", `"model" is unknown`},
		"a long end": {`{"task":"x"}`, func(context.Context, model.Request) (model.Response, error) {
			return says(strings.Repeat("word \n", 100_000)), nil
		}, "ok", "[…]"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &scripted{turns: []func(context.Context, model.Request) (model.Response, error){
				func(ctx context.Context, req model.Request) (model.Response, error) {
					switch {
					case strings.HasPrefix(req.System, "You are a sub-agent"):
						return test.answer(ctx, req)
					case len(req.Messages) == 1:
						return asks(call("agent", test.args)), nil
					default:
						return says("Done."), nil
					}
				},
			}}
			a, memory := newAgent(t, m, withSubAgents(t, registry(t), 40, looking(t)), func(o *agent.Options) { o.MaxTurns = 40 })
			outcome, err := a.Run(t.Context(), "go")
			if err != nil || outcome.Stop != agent.StopFinished {
				t.Fatalf("ended as %s, error %v", outcome.Stop, err)
			}
			for _, body := range memory.Bodies() {
				result, is := body.(trajectory.ToolResult)
				if !is {
					continue
				}
				if text := result.Content[0].Text; result.Status != test.status || result.IsError != (test.status != "ok") ||
					!strings.Contains(text, test.told) || len(text) > 17<<10 {
					t.Errorf("%s: %.2000s", result.Status, text)
				}
				if sub := below(memory, result.CallID); len(sub.Bodies()) > 0 {
					checkPairs(t, sub)
				}
			}
		})
	}
}

// TestSubAgentsStartNone: not even one that is given the tool.
func TestSubAgentsStartNone(t *testing.T) {
	m := answers(delegate("one"), delegate("two"), says("I did it myself."), says("Done."))
	set := withSubAgents(t, registry(t), 0, looking(t))
	set = withSubAgents(t, registry(t), 0, func() agent.SubAgent { return agent.SubAgent{Tools: set} })
	a, memory := newAgent(t, m, set)
	if outcome, err := a.Run(t.Context(), "go"); err != nil || outcome.Requests != 4 {
		t.Fatalf("%+v, error %v", outcome, err)
	}
	if got := strings.Join(story(below(memory, m.requests[3].Messages[1].Calls[0].ID)), "\n"); !strings.Contains(got, "a sub-agent cannot start another one") {
		t.Errorf("the sub-agent's record:\n%s", got)
	}
}

// TestSubAgentCompacts: a sub-agent's conversation is made shorter like any
// other, in its own part of the record, and the agent's stays as it is.
func TestSubAgentCompacts(t *testing.T) {
	m := &narrow{limit: 16_000, looks: 40}
	outer := &scripted{turns: []func(context.Context, model.Request) (model.Response, error){
		func(ctx context.Context, req model.Request) (model.Response, error) {
			switch {
			case req.System != "You are an agent.":
				return m.Generate(ctx, req, nil)
			case len(req.Messages) == 1:
				return asks(call("agent", `{"task":"look around","max_turns":60}`)), nil
			default:
				return says("Done."), nil
			}
		},
	}}
	set := withSubAgents(t, registry(t), 100, func() agent.SubAgent {
		return agent.SubAgent{Tools: registry(t, look(3000), tools.NewTodo()), System: realPrompt}
	})
	a, memory := newAgent(t, outer, set, func(o *agent.Options) { o.System, o.ContextWindow, o.MaxTurns = "You are an agent.", 16_000, 100 })
	outcome, err := a.Run(t.Context(), "go")
	if err != nil || outcome.Stop != agent.StopFinished || outcome.Turns != 2 {
		t.Fatalf("%+v, error %v", outcome, err)
	}
	last := outer.requests[len(outer.requests)-1]
	sub := below(memory, last.Messages[1].Calls[0].ID)
	if len(notices(sub, trajectory.NoticeSummary)) < 2 || len(notices(memory, trajectory.NoticeSummary)) > 0 || len(last.Messages) != 3 {
		t.Errorf("%d summaries of the sub-agent, %d of the run", len(notices(sub, trajectory.NoticeSummary)), len(notices(memory, trajectory.NoticeSummary)))
	}
	if text := last.Messages[2].Parts[0].Text; text != "done\n[the sub-agent completed its task after 41 turns]" {
		t.Errorf("the agent was told %q", text)
	}
}

// TestSubAgentOverHTTP: the switches that one agent learned hold for the other,
// and a strict server takes both conversations.
func TestSubAgentOverHTTP(t *testing.T) {
	leaktest.Check(t, 0)
	const hands = `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"agent","arguments":"{\"task\":\"look\"}"}}]},"finish_reason":"tool_calls"}]}`
	s := newServer(t, streaming(hands, "[DONE]"), refusing("stream_options is not permitted"), streaming(serverCalls, "[DONE]"), streaming(serverText))
	memory := &trajectory.Memory{}
	a := serverAgent(t, s, memory, func(o *agent.Options) {
		o.Tools = withSubAgents(t, registry(t), 0, looking(t))
	})
	outcome, err := a.Run(t.Context(), "go")
	if err != nil || outcome.Stop != agent.StopFinished || outcome.Requests != 5 || len(s.bodies) != 5 {
		t.Fatalf("%+v, %d requests, error %v", outcome, len(s.bodies), err)
	}
	if strings.Contains(s.bodies[4], "stream_options") || !strings.Contains(s.bodies[4], "the sub-agent completed its task after 2 turns") {
		t.Errorf("the agent's last request: %s", s.bodies[4])
	}
	if got := notices(below(memory, "x"), trajectory.NoticeAdapted); len(got) != 1 {
		t.Errorf("told of switches: %q", got)
	}
}

// TestSubAgentsNeedARun: a call that is of no run of an agent is a fault.
func TestSubAgentsNeedARun(t *testing.T) {
	set := withSubAgents(t, registry(t), 0, looking(t))
	if _, err := set.Execute(t.Context(), "agent", json.RawMessage(`{"task":"x"}`)); err == nil {
		t.Error("it was taken")
	}
	if _, err := agent.NewSubAgents(agent.SubOptions{}); err == nil {
		t.Error("nothing makes sub-agents, and that was taken")
	}
}
