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
	"github.com/google/go-cmp/cmp"
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
		"known, a limit that lies":      {window: 8192, limit: 8192, names: func(int, int) (int, int) { return 4600, 90_000 }, size: 8000, dense: 4, refused: 8},
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

// TestImagesLast: texts of the last turn are shortened before an image is left
// out, and an old image is.
func TestImagesLast(t *testing.T) {
	image := tools.Part{MediaType: "image/png", Data: []byte("png")}
	for name, test := range map[string]struct {
		text, beside int
		images       int // that the model is shown in the end
	}{
		"a long text beside":   {60_000, 2, 1},
		"nothing but images":   {0, 30, 0},
		"much text and images": {60_000, 30, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := &narrow{limit: 16_000, looks: 1, beside: test.beside}
			l := tool{"look", tools.Read, func(_ context.Context, args json.RawMessage) (tools.Result, error) {
				if n := len(page(args, 0)); test.text == 0 || strings.Contains(string(args), "100") && n > 0 {
					return tools.Result{Parts: []tools.Part{image}}, nil
				}
				return tools.Text(page(args, test.text)), nil
			}}
			if test.images == 0 && test.text > 0 {
				l.run = func(_ context.Context, args json.RawMessage) (tools.Result, error) {
					return tools.Result{Parts: append(tools.Text(page(args, test.text)).Parts, image)}, nil
				}
			}
			a, memory := newAgent(t, m, registry(t, l), func(o *agent.Options) { o.ContextWindow, o.Images = 16_000, true })
			outcome, err := a.Run(t.Context(), "go")
			if err != nil || outcome.Stop != agent.StopFinished {
				t.Fatalf("ended as %s, error %v", outcome.Stop, err)
			}
			shown, said := 0, 0
			for _, msg := range m.requests[len(m.requests)-1].Messages {
				for _, p := range msg.Parts {
					if p.MediaType != "" {
						shown++
					}
					said += strings.Count(p.Text, "[The image is left out here to save room. Make the call again if you need it.]")
				}
			}
			if shown != test.images || test.images == 0 && said != test.beside {
				t.Errorf("%d images are shown, %d left out: %q", shown, said, notices(memory, trajectory.NoticeCompacted))
			}
		})
	}
}

// TestShortenedTwice: what is left out is told of the whole, however often a
// result was shortened, and what the tool gives once is not said to be had again.
func TestShortenedTwice(t *testing.T) {
	m := &narrow{limit: 16_000, looks: 30}
	l := once{tool{"look", tools.Read, func(_ context.Context, args json.RawMessage) (tools.Result, error) {
		size := 2000
		if strings.Contains(string(args), ":100}") {
			size = 100_000
		}
		return tools.Text(page(args, size)), nil
	}}}
	a, _ := newAgent(t, m, registry(t, l), func(o *agent.Options) { o.ContextWindow = 16_000 })
	if outcome, err := a.Run(t.Context(), "go"); err != nil || outcome.Stop != agent.StopFinished {
		t.Fatalf("ended as %s, error %v", outcome.Stop, err)
	}
	total := len(page(json.RawMessage(`{"n":100}`), 100_000))
	seen := map[int]bool{}
	for _, req := range m.requests {
		if len(req.Messages) < 3 || len(req.Messages[2].Parts) == 0 || !strings.HasPrefix(req.Messages[2].Parts[0].Text, `begin {"n":100}`) {
			continue
		}
		head, rest, _ := strings.Cut(req.Messages[2].Parts[0].Text, "\n[")
		word, tail, _ := strings.Cut(rest, "]\n")
		var out int
		if _, err := fmt.Sscanf(word, "%d bytes", &out); err != nil {
			t.Fatalf("%q: %v", word, err)
		}
		if got := len(head) + 1 + out + len(tail); got != total {
			t.Errorf("%d bytes are shown and left out, want %d: %s", got, total, word)
		}
		if !strings.HasSuffix(word, "The same call does not give it again.") {
			t.Errorf("says %q", word)
		}
		seen[out] = true
	}
	if len(seen) < 2 {
		t.Errorf("it was shortened %d times", len(seen))
	}
}

// A once tool gives a thing once.
type once struct{ tool }

func (o once) Definition() tools.Definition {
	def := o.tool.Definition()
	def.Once = true
	return def
}

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
