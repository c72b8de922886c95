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

// TestPromptCutOfCode: a server that stays at the size at which it cuts is told
// before three times as much was sent, even where words are long.
func TestPromptCutOfCode(t *testing.T) {
	for _, test := range []struct{ word, limit int }{{12, 8192}, {18, 8192}, {24, 8192}, {24, 4096}, {40, 4096}} {
		var memory *trajectory.Memory
		sent := 0
		m := replying(func(turn int, req model.Request) model.Response {
			size := model.EstimateUsage(req, model.Response{}).Input
			if len(notices(memory, trajectory.NoticePromptCut)) == 0 {
				sent = size
			}
			resp := asks(call("look", fmt.Sprintf(`{"n":%d}`, turn)))
			if turn > 45 {
				resp = says("done")
			}
			resp.Usage = model.Usage{Input: min(size, test.limit), Output: 20}
			return resp
		})
		l := tool{"look", tools.Read, func(_ context.Context, args json.RawMessage) (tools.Result, error) {
			return tools.Text(string(args) + strings.Repeat(strings.Repeat("x", test.word-1)+" ", 4000/test.word)), nil
		}}
		var a *agent.Agent
		a, memory = newAgent(t, m, registry(t, l))
		if outcome, err := a.Run(t.Context(), "go"); err != nil || outcome.Stop != agent.StopFinished {
			t.Errorf("ended as %s, error %v", outcome.Stop, err)
		}
		if sent > 6*test.limit || len(notices(memory, trajectory.NoticePromptCut)) != 1 {
			t.Errorf("with %d bytes a word, a cut at %d was told when %d were sent", test.word, test.limit, sent)
		}
	}
}

// TestThoughtInText: thought that a server leaves in the text, and its template
// leaves out of all earlier answers, does not look like a prompt that was cut.
func TestThoughtInText(t *testing.T) {
	m := replying(func(turn int, req model.Request) model.Response {
		seen := req
		seen.Messages = nil
		for _, msg := range req.Messages {
			if _, said, ok := strings.Cut(msg.Text, "</think>"); ok {
				msg.Text = said
			}
			seen.Messages = append(seen.Messages, msg)
		}
		resp := asks(call("look", fmt.Sprintf(`{"n":%d}`, turn)))
		if turn > 20 {
			resp = says("done")
		}
		resp.Text = "<think>" + strings.Repeat("let me see now ", 200) + "</think>Looking."
		resp.Usage = model.Usage{Input: model.EstimateUsage(seen, model.Response{}).Input, Output: 800}
		return resp
	})
	a, memory := newAgent(t, m, registry(t, look(500)))
	if outcome, err := a.Run(t.Context(), "go"); err != nil || outcome.Stop != agent.StopFinished {
		t.Errorf("ended as %s, error %v", outcome.Stop, err)
	}
	if told := notices(memory, trajectory.NoticePromptCut); len(told) > 0 {
		t.Errorf("told %q", told)
	}
}

// say is a tool that always says the same.
func say(name, text string) tool {
	return tool{name, tools.Read, func(context.Context, json.RawMessage) (tools.Result, error) { return tools.Text(text), nil }}
}
