package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
)

// realPrompt is about as long as belljar's own prompt and tools.
var realPrompt = strings.Repeat("word ", 18_000/5)

// TestGoesOn: a run goes on, however little room there is beside the prompt, as
// long as anything can be left out.
func TestGoesOn(t *testing.T) {
	for name, test := range map[string]struct {
		window, limit               int
		names                       func(limit, size int) (int, int)
		size, beside, dense, prompt int
		looks                       int // 0 is 20
		refused                     int // at most
		last                        int // tokens of the last prompt, at least
	}{
		"8k, a page a turn":             {window: 8192, limit: 8192, size: 4000},
		"8k, two pages a turn":          {window: 8192, limit: 8192, size: 8000},
		"16k, more than there is":       {window: 16_384, limit: 16_384, size: 30_000},
		"16k, dense":                    {window: 16_000, limit: 16_000, size: 4000, beside: 3, dense: 2, refused: 2},
		"16k, denser":                   {window: 16_000, limit: 16_000, size: 8000, beside: 3, dense: 3, refused: 3},
		"32k, denser":                   {window: 32_000, limit: 32_000, size: 8000, beside: 3, dense: 3, refused: 2},
		"32k, much beside each other":   {window: 32_768, limit: 32_768, size: 30_000, beside: 4},
		"unknown, 8k":                   {limit: 8192, size: 30_000, beside: 2, refused: 8},
		"unknown, 16k":                  {limit: 16_384, size: 30_000, beside: 4, refused: 8},
		"unknown, 32k":                  {limit: 32_768, size: 30_000, beside: 8, refused: 8},
		"unknown, 8k, named":            {limit: 8192, names: truly, size: 30_000, beside: 2, refused: 1},
		"unknown, 32k, named":           {limit: 32_768, names: truly, size: 30_000, beside: 8, refused: 1},
		"unknown, 16k, named, dense":    {limit: 16_384, names: truly, size: 8000, beside: 3, dense: 3, refused: 2},
		"said too much, named":          {window: 128_000, limit: 16_384, names: truly, size: 30_000, refused: 1},
		"results that cannot be enough": {window: 6000, limit: 6000, size: 3000, beside: 40, looks: 2},
		"a prompt that counts twice":    {window: 16_384, limit: 16_384, size: 4000, prompt: 2, refused: 1},
		"unknown, the limit alone":      {limit: 8192, names: func(limit, _ int) (int, int) { return limit, 0 }, size: 8000, dense: 3, refused: 4},
		"unknown, the size alone":       {limit: 8192, names: func(_, size int) (int, int) { return 0, size }, size: 30_000, refused: 8},
		"unknown, a limit that lies":    {limit: 8192, names: func(int, int) (int, int) { return 9, 10 }, size: 30_000, refused: 8},
		"unknown, a size that lies":     {limit: 8192, names: func(int, int) (int, int) { return 0, 3 }, size: 30_000, refused: 8},
		"known, a limit that lies":      {window: 12_000, limit: 8192, names: func(int, int) (int, int) { return 4600, 90_000 }, size: 2000, looks: 12, dense: 4, refused: 8, last: 6500},
		"hardly more than the prompt":   {window: 5200, limit: 5200, size: 3000, looks: 5, refused: 5},
	} {
		t.Run(name, func(t *testing.T) {
			looks := test.looks
			if looks == 0 {
				looks = 20
			}
			m := &narrow{limit: test.limit, names: test.names, looks: looks, beside: test.beside, dense: test.dense, prompt: test.prompt}
			a, memory := newAgent(t, m, registry(t, look(test.size)), func(o *agent.Options) {
				o.ContextWindow, o.System, o.MaxTurns = test.window, realPrompt, 100
			})
			outcome, err := a.Run(t.Context(), "the task")
			if err != nil || outcome.Stop != agent.StopFinished || outcome.Turns != looks+1 {
				t.Fatalf("ended as %s after %d turns, error %v", outcome.Stop, outcome.Turns, err)
			}
			if last := m.sizes[len(m.sizes)-1]; last < test.last {
				t.Errorf("the last prompt has %d tokens: %v", last, m.sizes)
			}
			if m.refused > test.refused || len(m.summed) > outcome.Turns {
				t.Errorf("%d refusals, %d summaries in %d turns:\n%s", m.refused, len(m.summed), outcome.Turns,
					strings.Join(notices(memory, trajectory.NoticeCompacted), "\n"))
			}
		})
	}
}

// truly names what is so.
func truly(limit, size int) (int, int) { return limit, size }

// TestSizesAreTrue: the size that is told after a compaction is about that of the
// next prompt, however the server counts the prompt and what comes after it.
func TestSizesAreTrue(t *testing.T) {
	for name, test := range map[string]struct{ prompt, dense int }{
		"as estimated": {1, 1}, "the prompt twice": {2, 1}, "results three times": {1, 3}, "all twice": {2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var memory *trajectory.Memory
			m := &narrow{prompt: test.prompt, dense: test.dense, looks: 60}
			seen := 0
			m.check = func(req model.Request) {
				compacted := notices(memory, trajectory.NoticeCompacted)
				if len(compacted) == seen {
					return
				}
				seen = len(compacted)
				var after int
				_, told, _ := strings.Cut(compacted[seen-1], "tokens before, about ")
				if _, err := fmt.Sscanf(told, "%d after", &after); err != nil {
					t.Fatalf("%q: %v", compacted[seen-1], err)
				}
				if size := m.count(req); after < size*8/10 || after > size*12/10 {
					t.Errorf("told %d, sent %d", after, size)
				}
			}
			var a *agent.Agent
			a, memory = newAgent(t, m, registry(t, look(3000)), func(o *agent.Options) {
				o.ContextWindow, o.System, o.MaxTurns = 20_000, realPrompt, 100
			})
			if outcome, err := a.Run(t.Context(), "go"); err != nil || outcome.Stop != agent.StopFinished || seen < 2 {
				t.Errorf("ended as %s, error %v, after %d compactions", outcome.Stop, err, seen)
			}
		})
	}
}

// replying is a model that a func is, with every answer counted.
func replying(answer func(turn int, req model.Request) model.Response) *scripted {
	turn := 0
	return &scripted{turns: []func(context.Context, model.Request) (model.Response, error){
		func(_ context.Context, req model.Request) (model.Response, error) {
			resp := says("the gist")
			if len(req.Tools) > 0 {
				turn++
				resp = answer(turn, req)
			}
			if resp.Usage == (model.Usage{}) {
				resp.Usage = model.Usage{Input: model.EstimateUsage(req, model.Response{}).Input, Output: model.EstimateUsage(req, resp).Output}
			}
			return resp, nil
		},
	}}
}

// TestLargeArguments: what the model wrote itself is sent as long as the window
// holds it, and is summed up where it does not.
func TestLargeArguments(t *testing.T) {
	for name, test := range map[string]struct {
		window, tokens int
		whole          bool
	}{
		"within the reserve of 8k":  {8000, 6500, true},
		"within the reserve of 32k": {32_000, 26_000, true},
		"more than there is":        {8000, 9000, false},
	} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf(`{"text":%q}`, strings.Repeat("some words ", test.tokens*4/11))
			m := replying(func(turn int, _ model.Request) model.Response {
				if turn == 1 {
					return asks(call("write", text))
				}
				return says("done")
			})
			a, _ := newAgent(t, m, registry(t, say("write", "ok")), func(o *agent.Options) { o.ContextWindow = test.window })
			outcome, err := a.Run(t.Context(), "go")
			if err != nil || outcome.Stop != agent.StopFinished {
				t.Fatalf("ended as %s, error %v", outcome.Stop, err)
			}
			last := m.requests[len(m.requests)-1].Messages
			if whole := len(last[1].Calls) == 1 && last[1].Calls[0].Arguments == text; whole != test.whole {
				t.Errorf("the arguments are whole: %t", whole)
			}
		})
	}
}

// TestWordySummary: a summary that is as long as what it stands for is cut.
func TestWordySummary(t *testing.T) {
	m := replying(func(turn int, _ model.Request) model.Response {
		switch {
		case turn == 7:
			return asks(call("write", fmt.Sprintf(`{"text":%q}`, strings.Repeat("some words ", 10_500*4/11))))
		case turn > 7:
			return says("done")
		}
		return asks(call("look", fmt.Sprintf(`{"n":%d}`, turn)))
	})
	answer := m.turns[0]
	m.turns[0] = func(ctx context.Context, req model.Request) (model.Response, error) {
		resp, err := answer(ctx, req)
		if len(req.Tools) == 0 {
			resp.Text = strings.Repeat("gist of it\n", 1200)
		}
		return resp, err
	}
	a, memory := newAgent(t, m, registry(t, look(1000), say("write", "ok")), func(o *agent.Options) { o.ContextWindow = 16_000 })
	outcome, err := a.Run(t.Context(), "go")
	if summaries := notices(memory, trajectory.NoticeSummary); err != nil || len(summaries) != 1 || len(summaries[0]) > 4000 {
		t.Errorf("ended as %s, error %v, with summaries %.9000q", outcome.Stop, err, summaries)
	}
}

// TestThoughtIsNoRoom: what was thought does not go back, whether the server
// tells its part of the tokens or not.
func TestThoughtIsNoRoom(t *testing.T) {
	for _, told := range []int{27_900, 0} {
		m := replying(func(turn int, req model.Request) model.Response {
			resp := asks(call("look", fmt.Sprintf(`{"n":%d}`, turn)))
			if turn > 12 {
				resp = says("done")
			}
			resp.Reasoning = strings.Repeat("hm, let me see ", 7000)
			resp.Usage = model.Usage{Input: model.EstimateUsage(req, model.Response{}).Input, Output: 28_000, Reasoning: told}
			return resp
		})
		a, memory := newAgent(t, m, registry(t, look(28_000)), func(o *agent.Options) { o.ContextWindow = 128_000 })
		if outcome, err := a.Run(t.Context(), "go"); err != nil || outcome.Stop != agent.StopFinished {
			t.Errorf("ended as %s, error %v", outcome.Stop, err)
		}
		if compacted := notices(memory, trajectory.NoticeCompacted); len(compacted) > 0 {
			t.Errorf("%d tokens of thought told: %q", told, compacted)
		}
	}
}

// TestThoughtGoesBack: where what was thought is handed back and counted, it is
// known to take room.
func TestThoughtGoesBack(t *testing.T) {
	const window, each = 64_000, 3000
	for _, told := range []int{each, 0} {
		count := func(req model.Request) int {
			size := model.EstimateUsage(req, model.Response{}).Input
			for _, msg := range req.Messages {
				size += len(msg.Reasoning) / 4
			}
			return size
		}
		most := 0
		m := replying(func(turn int, req model.Request) model.Response {
			most = max(most, count(req))
			resp := asks(call("look", fmt.Sprintf(`{"n":%d}`, turn)))
			if turn > 60 {
				resp = says("done")
			}
			resp.Reasoning = strings.Repeat("hm, ", each)
			resp.Usage = model.Usage{Input: count(req), Output: each + 10, Reasoning: told}
			return resp
		})
		a, memory := newAgent(t, m, registry(t, look(1000)), func(o *agent.Options) { o.ContextWindow, o.MaxTurns = window, 100 })
		if outcome, err := a.Run(t.Context(), "go"); err != nil || outcome.Stop != agent.StopFinished {
			t.Errorf("ended as %s, error %v", outcome.Stop, err)
		}
		if compacted := notices(memory, trajectory.NoticeCompacted); most > window*3/4 || len(compacted) == 0 {
			t.Errorf("%d tokens were sent, of thought told %d: %q", most, told, compacted)
		}
	}
}
