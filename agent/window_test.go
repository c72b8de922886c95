package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// TestPromptCut: a server that cuts what it is sent is told, once, and one that
// counts otherwise than is estimated is not.
func TestPromptCut(t *testing.T) {
	const size = 4000 // of a result, of some 570 words
	for name, test := range map[string]struct {
		count   func(turn, estimate int) model.Usage
		thinks  string
		pages   func(turn int) string
		turns   int
		cut     bool
		compact bool
	}{
		"counts it all":        {count: func(_, n int) model.Usage { return model.Usage{Input: n} }},
		"counts few":           {count: func(_, n int) model.Usage { return model.Usage{Input: n * 6 / 7} }},
		"counts many":          {count: func(_, n int) model.Usage { return model.Usage{Input: n * 3} }},
		"takes 2,048":          {count: func(_, n int) model.Usage { return model.Usage{Input: min(n, 2048)} }, cut: true},
		"takes 4,096":          {count: func(_, n int) model.Usage { return model.Usage{Input: min(n, 4096)} }, cut: true},
		"drops whole messages": {count: func(i, n int) model.Usage { return model.Usage{Input: min(n, 6000+i*97%500)} }, cut: true},
		"falls by a half":      {count: func(i, n int) model.Usage { return model.Usage{Input: n / (1 + i/12)} }, cut: true},
		"never counts":         {count: func(_, n int) model.Usage { return model.Usage{Input: 10, Estimated: true} }},
		"counts nothing":       {count: func(_, n int) model.Usage { return model.Usage{} }},
		"drops what was thought": {thinks: strings.Repeat("hm, let me see ", 500), count: func(i, n int) model.Usage {
			return model.Usage{Input: n + 1800*(i%8)} // it is left out after each eighth answer
		}},
		"one long word":       {pages: func(int) string { return strings.Repeat("x", size) }, count: func(_, n int) model.Usage { return model.Usage{Input: 300 + n/8} }},
		"a short run":         {turns: 2, count: func(_, n int) model.Usage { return model.Usage{Input: 5} }},
		"was made shorter":    {compact: true, count: func(_, n int) model.Usage { return model.Usage{Input: n} }},
		"cut and known, both": {compact: true, cut: true, count: func(_, n int) model.Usage { return model.Usage{Input: min(n, 2048)} }},
	} {
		t.Run(name, func(t *testing.T) {
			turns := test.turns
			if turns == 0 {
				turns = 20
			}
			n := 0
			m := &scripted{turns: []func(context.Context, model.Request) (model.Response, error){
				func(_ context.Context, req model.Request) (model.Response, error) {
					if len(req.Tools) == 0 {
						return says("summary"), nil
					}
					resp := asks(call("look", `{"n":`+strings.Repeat("1", n+1)+`}`))
					if n == turns-1 {
						resp = says("done")
					}
					resp.Reasoning = test.thinks
					resp.Usage = test.count(n, model.EstimateUsage(req, model.Response{}).Input)
					n++
					return resp, nil
				},
			}}
			l := look(size)
			if test.pages != nil {
				l = say("look", test.pages(0))
			}
			a, memory := newAgent(t, m, registry(t, l), func(o *agent.Options) {
				if test.compact {
					o.ContextWindow = 16_000
				}
			})
			if outcome, err := a.Run(t.Context(), "go"); err != nil || outcome.Stop != agent.StopFinished {
				t.Fatalf("ended as %s, error %v", outcome.Stop, err)
			}
			told := notices(memory, trajectory.NoticePromptCut)
			if want := map[bool]int{true: 1}[test.cut]; len(told) != want {
				t.Errorf("told %d times, want %d: %q", len(told), want, told)
			}
			if compacted := notices(memory, trajectory.NoticeCompacted); (len(compacted) > 0) != test.compact {
				t.Errorf("compactions: %q", compacted)
			}
		})
	}
}

// say is a tool that always says the same.
func say(name, text string) tool {
	return tool{name, tools.Read, func(context.Context, json.RawMessage) (tools.Result, error) { return tools.Text(text), nil }}
}
