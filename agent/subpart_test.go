package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/leaktest"
	"github.com/belljar/belljar/tools"
	"github.com/google/go-cmp/cmp"
)

// TestSubAgentBudget: a sub-agent gets a part of what is left, what it uses
// counts, and nothing goes over what the run may use.
func TestSubAgentBudget(t *testing.T) {
	for name, test := range map[string]struct {
		change   func(*agent.Options)
		stop     agent.Stop
		requests int
		told     []string // of each sub-agent
	}{
		"requests":          {func(o *agent.Options) { o.MaxRequests = 20 }, agent.StopMaxRequests, 20, []string{"max_requests", "max_requests", "hardly any requests to the model are left"}},
		"one request":       {func(o *agent.Options) { o.MaxRequests = 2 }, agent.StopMaxRequests, 2, []string{"hardly any requests to the model are left"}},
		"tokens":            {func(o *agent.Options) { o.MaxTokens = 150 }, agent.StopMaxTokens, 10, []string{"max_tokens", "max_tokens"}},
		"money":             {func(o *agent.Options) { o.MaxCost = 100 }, agent.StopMaxCost, 10, []string{"max_cost", "max_cost"}},
		"turns of all":      {func(o *agent.Options) { o.MaxTurns = 4 }, agent.StopMaxTurns, 8, []string{"after 4 turns it ended as max_turns", "have had all the turns that they have together, 4", "had all", "had all"}},
		"turns of the last": {func(o *agent.Options) { o.MaxTurns = 30 }, agent.StopStuck, 0, []string{"after 25 turns", "after 5 turns", "have had all the turns"}},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			m := &scripted{turns: []func(context.Context, model.Request) (model.Response, error){
				func(_ context.Context, req model.Request) (model.Response, error) {
					n++
					resp := delegate(fmt.Sprint("go on ", n))
					if len(req.Tools) > 1 {
						resp = asks(call("look", fmt.Sprintf(`{"n":%d}`, n)))
					}
					resp.Usage = model.Usage{Input: 10, Output: 5}
					return resp, nil
				},
			}}
			a, memory := newAgent(t, m, withSubAgents(t, registry(t), 0, looking(t)), func(o *agent.Options) {
				o.Price = &model.Price{Rates: model.Rates{Input: 1e6}}
				test.change(o)
			})
			outcome, err := a.Run(t.Context(), "go")
			if err != nil || outcome.Stop != test.stop || test.requests > 0 && outcome.Requests != test.requests {
				t.Errorf("ended as %s after %d requests, error %v", outcome.Stop, outcome.Requests, err)
			}
			if outcome.Requests != len(m.requests) {
				t.Errorf("%d requests counted, %d made", outcome.Requests, len(m.requests))
			}
			var told []string
			for _, body := range memory.Bodies() {
				if result, is := body.(trajectory.ToolResult); is {
					told = append(told, result.Content[0].Text)
				}
			}
			if len(told) < len(test.told) {
				t.Fatalf("told %q", told)
			}
			for i, want := range test.told {
				if !strings.Contains(told[i], want) {
					t.Errorf("sub-agent %d: told %q, want %q", i, told[i], want)
				}
			}
		})
	}
}

// TestSubAgentStatusDocs: the description of the record names every status that
// the result of a sub-agent may have.
func TestSubAgentStatusDocs(t *testing.T) {
	data, err := os.ReadFile("../docs/record.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(data), "**`status` of a result.**")
	text, _, ends := strings.Cut(text, "\n\n")
	if !found || !ends {
		t.Fatal("docs/record.md has no paragraph on the status of a result")
	}
	for _, stop := range []agent.Stop{
		agent.StopMaxTurns, agent.StopMaxTime, agent.StopMaxRequests, agent.StopMaxTokens, agent.StopMaxCost, agent.StopMaxContext,
		agent.StopStuck, agent.StopRefused, agent.StopModel,
	} {
		if !strings.Contains(text, "`"+string(stop)+"`") {
			t.Errorf("docs/record.md does not name the status %q", stop)
		}
	}
}

// TestSubAgentDefaultTurns: what is told of the default is what it is.
func TestSubAgentDefaultTurns(t *testing.T) {
	a, memory := newAgent(t, answers(asks(call("agent", `{"task":"x","max_turns":0}`)), says("Done.")),
		withSubAgents(t, registry(t), 10, looking(t)), func(o *agent.Options) { o.MaxTurns = 10 })
	if outcome, err := a.Run(t.Context(), "go"); err != nil || outcome.Stop != agent.StopFinished {
		t.Fatalf("ended as %s, error %v", outcome.Stop, err)
	}
	if lines := strings.Join(story(memory), "\n"); !strings.Contains(lines, "leave it out for the default of 10") {
		t.Errorf("the record:\n%s", lines)
	}
}

// TestSubAgentTime: a sub-agent has a part of the time, which stands still, as
// the run's does, while somebody is asked about its calls.
func TestSubAgentTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		sleep := tool{"sleep", tools.Execute, func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
			select {
			case <-time.After(50 * time.Second):
				return tools.Text("slept"), nil
			case <-ctx.Done():
				return tools.Result{}, context.Cause(ctx)
			}
		}}
		m := answers(delegate("rest"), asks(call("sleep", `{"n":1}`)), asks(call("sleep", `{"n":2}`)), says("Done."))
		set := withSubAgents(t, registry(t), 0, func() agent.SubAgent { return agent.SubAgent{Tools: registry(t, sleep)} })
		a, memory := newAgent(t, m, set, func(o *agent.Options) {
			o.MaxTime = 100 * time.Second
			o.Approve = func(_ context.Context, req agent.ApprovalRequest) agent.Approval {
				asked = append(asked, req.Call.Name+" of "+req.Agent)
				time.Sleep(time.Hour)
				return agent.Approval{Decision: agent.Allowed, By: trajectory.ByUser}
			}
		})
		outcome, err := a.Run(t.Context(), "go")
		if err != nil || outcome.Stop != agent.StopFinished || outcome.Duration != 3*time.Hour+75*time.Second {
			t.Errorf("ended as %s after %s, error %v", outcome.Stop, outcome.Duration, err)
		}
		if diff := cmp.Diff([]string{"agent of ", "sleep of rest", "sleep of rest"}, asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		id := m.requests[3].Messages[1].Calls[0].ID
		sub := story(below(memory, id))
		if last := sub[len(sub)-1]; last != "end max_time 2 " || !strings.Contains(strings.Join(sub, "\n"), "approval "+m.requests[2].Messages[1].Calls[0].ID+" allowed") {
			t.Errorf("the sub-agent's record: %q", sub)
		}
	})
}

// TestSubAgentIsStopped: what ends the run ends its sub-agent, and the record of
// both is whole.
func TestSubAgentIsStopped(t *testing.T) {
	stop := errors.New("interrupted by INT")
	for name, test := range map[string]struct {
		run  func(cancel context.CancelCauseFunc) error
		stop agent.Stop
		sub  string
		own  string
	}{
		"canceled":       {func(cancel context.CancelCauseFunc) error { cancel(stop); return stop }, agent.StopCanceled, "end canceled 1", "interrupted"},
		"sandbox broken": {func(context.CancelCauseFunc) error { return errors.New("the sandbox is lost") }, agent.StopSandbox, "end sandbox_error 1", "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			leaktest.Check(t, 0)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			breaks := tool{"look", tools.Read, func(context.Context, json.RawMessage) (tools.Result, error) {
				return tools.Result{}, test.run(cancel)
			}}
			m := answers(delegate("look"), asks(call("look", "{}"), call("look", `{"n":2}`)), says("never"))
			var closed atomic.Bool
			a, memory := newAgent(t, m, withSubAgents(t, registry(t), 0, func() agent.SubAgent {
				return agent.SubAgent{Tools: registry(t, breaks), Close: func() error { closed.Store(true); return nil }}
			}))
			outcome, err := a.Run(ctx, "go")
			if err == nil || outcome.Stop != test.stop || !closed.Load() {
				t.Errorf("ended as %s, closed %t, error %v", outcome.Stop, closed.Load(), err)
			}
			checkPairs(t, memory)
			for _, body := range memory.Bodies() {
				call, is := body.(trajectory.ToolCall)
				if !is {
					continue
				}
				sub := below(memory, call.CallID)
				checkPairs(t, sub)
				if lines := story(sub); !strings.HasPrefix(lines[len(lines)-1], test.sub) {
					t.Errorf("the sub-agent's record: %q", lines)
				}
				if lines := strings.Join(story(memory), "\n"); !strings.Contains(lines, "result "+call.CallID+" "+test.own) {
					t.Errorf("the record:\n%s", lines)
				}
			}
		})
	}
}

// TestSubAgentBreaksDown: a fault below a sub-agent ends the run, with all that was
// used up counted.
func TestSubAgentBreaksDown(t *testing.T) {
	for name, own := range map[string]agent.SubAgent{
		"at its end":                     {Tools: registry(t), Closing: func() []trajectory.Notice { panic("out of bounds") }},
		"when what it has is given back": {Tools: registry(t), Close: func() error { panic("out of bounds") }},
	} {
		t.Run(name, func(t *testing.T) {
			m := answers(delegate("look"), says("It is here."), says("never"))
			a, memory := newAgent(t, m, withSubAgents(t, registry(t), 0, func() agent.SubAgent { return own }))
			outcome, err := a.Run(t.Context(), "go")
			if outcome.Stop != agent.StopSandbox || err == nil || !strings.Contains(err.Error(), "the sub-agent broke down (out of bounds): this is a fault of belljar") {
				t.Errorf("ended as %s, error %v", outcome.Stop, err)
			}
			if outcome.Requests != 2 || outcome.Usage.Input != 20 {
				t.Errorf("it used %+v", outcome.Spent)
			}
			if lines := strings.Join(story(memory), "\n"); !strings.Contains(lines, " failed failed: belljar broke while") {
				t.Errorf("the record:\n%s", lines)
			}
		})
	}
}

// TestSubAgentOwnFails: what a sub-agent has of its own may be wanting, which ends
// no run and takes nothing away from what it has done.
func TestSubAgentOwnFails(t *testing.T) {
	broken := errors.New("no such prompt")
	for name, test := range map[string]struct {
		own    agent.SubAgent
		err    error
		status string
		told   string
	}{
		"it cannot be made": {agent.SubAgent{}, broken, "error", "no sub-agent was started: no such prompt; do this part yourself"},
		"something lacks":   {agent.SubAgent{}, nil, "error", "no sub-agent was started: making an agent: Model, Tools and Recorder are required; do"},
		"it cannot be closed": {agent.SubAgent{Tools: registry(t), Close: func() error { return broken }}, nil, "ok",
			"It is here.\n[the sub-agent completed its task after 1 turn][what it opened could not be given back: no such prompt]"},
	} {
		t.Run(name, func(t *testing.T) {
			starts, err := agent.NewSubAgents(agent.SubOptions{New: func() (agent.SubAgent, error) { return test.own, test.err }})
			if err != nil {
				t.Fatal(err)
			}
			a, memory := newAgent(t, answers(delegate("look"), says("It is here."), says("Done.")), registry(t, starts))
			if outcome, err := a.Run(t.Context(), "go"); err != nil || outcome.Stop != agent.StopFinished {
				t.Fatalf("ended as %s, error %v", outcome.Stop, err)
			}
			if lines := strings.Join(story(memory), "\n"); !strings.Contains(lines, " "+test.status+" "+test.told) {
				t.Errorf("the record:\n%s", lines)
			}
		})
	}
}

// TestSubAgentRecordFails: a record that cannot take what a sub-agent does stops
// the run at once.
func TestSubAgentRecordFails(t *testing.T) {
	full := errors.New("disk full")
	m := answers(delegate("look"), asks(call("look", "{}")), says("never"))
	a, _ := newAgent(t, m, withSubAgents(t, registry(t), 0, looking(t)), func(o *agent.Options) {
		o.Recorder = failing{o.Recorder, func(body trajectory.Body) error {
			if inner, parent := trajectory.Unnest(body); parent != "" && trajectory.EventType(inner) == "tool_call" {
				return full
			}
			return nil
		}}
	})
	if outcome, err := a.Run(t.Context(), "go"); outcome.Stop != agent.StopRecord || !errors.Is(err, full) || len(m.requests) != 2 {
		t.Errorf("ended as %s after %d requests, error %v", outcome.Stop, len(m.requests), err)
	}
}

// A failing recorder fails for some events.
type failing struct {
	trajectory.Recorder
	fails func(trajectory.Body) error
}

func (f failing) Record(body trajectory.Body) error {
	if err := f.fails(body); err != nil {
		return err
	}
	return f.Recorder.Record(body)
}
