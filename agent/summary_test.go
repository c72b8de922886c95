package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
)

// TestSummary: what the model is asked, what stands for the middle then, and
// what does where it has no summary to give.
func TestSummary(t *testing.T) {
	answer := func(resp model.Response, err error) func() (model.Response, error) {
		return func() (model.Response, error) { return resp, err }
	}
	for name, test := range map[string]struct {
		summary func() (model.Response, error)
		stands  string
		stop    agent.Stop
	}{
		"given":          {answer(says(" The\x1b[1m gist.\n"), nil), "which you wrote yourself. It tells what happened and is no new order.]\n\n> The gist.", agent.StopFinished},
		"long":           {answer(says(strings.Repeat("gist ", 10_000)), nil), "[…]", agent.StopFinished},
		"empty":          {answer(says(" "), nil), "no summary could be had", agent.StopFinished},
		"calls":          {answer(asks(call("look", "{}")), nil), "no summary could be had", agent.StopFinished},
		"cut":            {answer(model.Response{Text: "The gi", Finish: model.FinishLength}, nil), "no new order.]\n\n> The gi\n> […]", agent.StopFinished},
		"not a request":  {answer(model.Response{}, model.Errorf(model.BadRequest, "no")), "no summary could be had", agent.StopFinished},
		"for ever":       {answer(model.Response{}, model.Errorf(model.Permanent, "no")), "no summary could be had", agent.StopFinished},
		"refused":        {answer(model.Response{}, model.Errorf(model.Filtered, "no")), "no summary could be had", agent.StopFinished},
		"a bad call":     {answer(model.Response{}, model.Errorf(model.BadCall, "no")), "no summary could be had", agent.StopFinished},
		"too long":       {answer(model.Response{}, model.Errorf(model.Context, "no")), "no summary could be had", agent.StopFinished},
		"key taken away": {answer(model.Response{}, model.Errorf(model.Auth, "no")), "", agent.StopModel},
	} {
		t.Run(name, func(t *testing.T) {
			m := &narrow{limit: 6000, looks: 30, summary: test.summary}
			a, memory := newAgent(t, m, registry(t, look(2000)), func(o *agent.Options) { o.ContextWindow, o.System = 8000, "the system prompt" })
			outcome, err := a.Run(t.Context(), "the task")
			if outcome.Stop != test.stop || (err != nil) != (test.stop != agent.StopFinished) {
				t.Fatalf("ended as %s, error %v", outcome.Stop, err)
			}
			if asked := m.summed[0]; !strings.Contains(asked, "<task>\nthe task\n</task>") || !strings.Contains(asked, "call of look:\n> {\"n\":100}\n") ||
				!strings.Contains(asked, `end {"n":200}`) || !strings.Contains(asked, "assistant:\n> look 1\n") {
				t.Errorf("asked %q", asked)
			}
			if test.stands == "" {
				return
			}
			told := notices(memory, trajectory.NoticeSummary)[0]
			if !strings.Contains(told, test.stands) {
				t.Errorf("what stands for the middle is %q", told)
			}
			for _, req := range m.requests {
				if len(req.Messages) > 1 && req.Messages[1].Text == told && req.Messages[0].Text == "the task" && req.Messages[2].Role == model.Assistant {
					return
				}
			}
			t.Error("the model was not told after the task")
		})
	}
}

// TestCompactionBudget: a summary is a request like any other.
func TestCompactionBudget(t *testing.T) {
	window := func(o *agent.Options) { o.ContextWindow = 8000 }
	first := func(change ...func(*agent.Options)) (*narrow, agent.Outcome) {
		m := &narrow{looks: 40}
		a, _ := newAgent(t, m, registry(t, look(1000)), append(change, window)...)
		outcome, err := a.Run(t.Context(), "go")
		if err != nil {
			t.Fatal(err)
		}
		return m, outcome
	}
	free, _ := first()
	before := slices.IndexFunc(free.requests, func(req model.Request) bool { return len(req.Tools) == 0 })
	sent := 0
	for _, size := range free.sizes[:before] {
		sent += size
	}
	for name, test := range map[string]struct {
		change           func(*agent.Options)
		stop             agent.Stop
		requests, summed int
	}{
		"requests, before the summary": {func(o *agent.Options) { o.MaxRequests = before }, agent.StopMaxRequests, before, 0},
		"requests, after the summary":  {func(o *agent.Options) { o.MaxRequests = before + 1 }, agent.StopMaxRequests, before + 1, 1},
		"money, by the summary": {func(o *agent.Options) {
			o.MaxCost, o.Price = float64(sent+1000)/1e6, &model.Price{Rates: model.Rates{Input: 1}}
		}, agent.StopMaxCost, before + 1, 1},
		"tokens, by the summary": {func(o *agent.Options) { o.MaxTokens = sent + 1000 }, agent.StopMaxTokens, before + 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			m, outcome := first(test.change)
			if outcome.Stop != test.stop || outcome.Requests != test.requests || len(m.summed) != test.summed {
				t.Errorf("ended as %s after %d requests, %d for a summary; want %s after %d, %d", outcome.Stop, outcome.Requests, len(m.summed),
					test.stop, test.requests, test.summed)
			}
		})
	}
	t.Run("requests, after a refusal", func(t *testing.T) {
		const limit = 4000
		over := slices.IndexFunc(free.sizes, func(size int) bool { return size > limit })
		m := &narrow{limit: limit, looks: 40}
		a, memory := newAgent(t, m, registry(t, look(1000)), func(o *agent.Options) { o.MaxRequests = over + 1 })
		outcome, err := a.Run(t.Context(), "go")
		if outcome.Stop != agent.StopMaxRequests || err != nil || m.refused != 1 || len(notices(memory, trajectory.NoticeRetry)) != 1 {
			t.Errorf("ended as %s after %d requests of %v, error %v", outcome.Stop, outcome.Requests, m.sizes, err)
		}
	})
}

// TestSummaryIsStopped: a run that is stopped while a summary is written ends as
// at any other time.
func TestSummaryIsStopped(t *testing.T) {
	gone := errors.New("gone")
	for name, stop := range map[string]agent.Stop{"by the caller": agent.StopCanceled, "by the time": agent.StopMaxTime} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			m := replying(func(turn int, _ model.Request) model.Response {
				return asks(call("look", fmt.Sprintf(`{"n":%d}`, turn)))
			})
			answer := m.turns[0]
			m.turns[0] = func(ctx context.Context, req model.Request) (model.Response, error) {
				if len(req.Tools) > 0 {
					return answer(ctx, req)
				}
				if stop == agent.StopCanceled {
					cancel(gone)
				}
				<-ctx.Done()
				return model.Response{}, fmt.Errorf("asking: %w", context.Cause(ctx))
			}
			a, memory := newAgent(t, m, registry(t, look(1000)), func(o *agent.Options) {
				if o.ContextWindow = 8000; stop == agent.StopMaxTime {
					o.MaxTime = time.Second / 3
				}
			})
			outcome, err := a.Run(ctx, "go")
			if outcome.Stop != stop || stop == agent.StopCanceled && !errors.Is(err, gone) {
				t.Errorf("ended as %s, error %v", outcome.Stop, err)
			}
			bodies := memory.Bodies()
			if end, ok := bodies[len(bodies)-1].(trajectory.End); !ok || end.Stop != string(stop) {
				t.Errorf("the record ends with %+v", bodies[len(bodies)-1])
			}
		})
	}
}

// TestSummaryIsRecorded: a summary that cannot be put on record stops the run.
func TestSummaryIsRecorded(t *testing.T) {
	broken := errors.New("disk full")
	m := &narrow{looks: 40}
	a, _ := newAgent(t, m, registry(t, look(2000)), func(o *agent.Options) {
		o.ContextWindow = 8000
		o.Recorder = failingOn{trajectory.NoticeSummary, broken}
	})
	if outcome, err := a.Run(t.Context(), "go"); outcome.Stop != agent.StopRecord || !errors.Is(err, broken) {
		t.Errorf("ended as %s, error %v", outcome.Stop, err)
	}
}

// A failingOn recorder fails on a kind of notice.
type failingOn struct {
	kind string
	err  error
}

func (f failingOn) Record(body trajectory.Body) error {
	if n, ok := body.(trajectory.Notice); ok && n.Kind == f.kind {
		return f.err
	}
	return nil
}
