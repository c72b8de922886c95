package agent_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
)

// TestSubAgentWindow: what is found of the window holds for an agent and those
// below it, whoever of them is at work when it is.
func TestSubAgentWindow(t *testing.T) {
	for name, test := range map[string]struct {
		after   int // calls of FindWindow that find nothing; -1 is none that does
		refused int
	}{
		"found before":            {0, 0},
		"found in the first":      {1, 0},
		"found late in the first": {3, 0},
		"named by a refusal":      {-1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			looks := map[string]*narrow{}
			refused := 0
			server := func(ctx context.Context, req model.Request) (model.Response, error) {
				task := req.Messages[0].Text
				m := looks[task]
				if len(req.Tools) == 0 { // a summary
					return says("summary"), nil
				}
				if m == nil {
					m = &narrow{limit: 9000, looks: 15, names: func(limit, size int) (int, int) { return limit, size }}
					looks[task] = m
				}
				resp, err := m.Generate(ctx, req, nil)
				if err != nil {
					refused++
				}
				return resp, err
			}
			outer := &scripted{turns: []func(context.Context, model.Request) (model.Response, error){
				func(ctx context.Context, req model.Request) (model.Response, error) {
					if req.System == "You are a sub-agent." || len(req.Tools) == 0 {
						return server(ctx, req)
					}
					if n := len(req.Messages) / 2; n < 2 {
						return delegate(fmt.Sprint("part ", n)), nil
					}
					return says("Done."), nil
				},
			}}
			set := withSubAgents(t, registry(t), 100, func() agent.SubAgent {
				return agent.SubAgent{Tools: registry(t, look(4000)), System: "You are a sub-agent."}
			})
			calls := 0
			a, _ := newAgent(t, outer, set, func(o *agent.Options) {
				o.System, o.MaxTurns = "You are an agent.", 100
				o.FindWindow = func() int {
					if calls++; calls <= test.after || test.after < 0 {
						return 0
					}
					return 9000
				}
			})
			outcome, err := a.Run(t.Context(), "go")
			if err != nil || outcome.Stop != agent.StopFinished || len(looks) != 2 {
				t.Fatalf("%+v, %d sub-agents, error %v", outcome, len(looks), err)
			}
			if refused != test.refused {
				t.Errorf("%d requests refused, want %d", refused, test.refused)
			}
			if test.after >= 0 && calls != test.after+1 {
				t.Errorf("it was asked for %d times, want %d", calls, test.after+1)
			}
		})
	}
}
