package agent_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
	"github.com/google/go-cmp/cmp"
)

// An attempt is what comes of one request: an error, or an answer that asks for
// one more call. Each takes a second.
type attempt struct {
	err   error
	usage model.Usage
	final bool // the answer is the last one
}

// attempts makes a model of attempts, the last one for ever.
func attempts(all ...attempt) *scripted {
	s := &scripted{}
	for i, a := range all {
		s.turns = append(s.turns, func(ctx context.Context, _ model.Request) (model.Response, error) {
			time.Sleep(time.Second)
			if ctx.Err() != nil {
				return model.Response{}, context.Cause(ctx)
			}
			if a.err != nil {
				return model.Response{}, a.err
			}
			resp := asks(call("look", `{"text":"`+strings.Repeat("x", i)+strings.Repeat("y", len(s.requests))+`"}`))
			if a.final {
				resp = says("Done.")
			}
			resp.Usage = a.usage
			return resp, nil
		})
	}
	return s
}

// TestBudgets: requests, tokens, money and time bound a run together, whichever
// is reached first, and what failed counts as well.
func TestBudgets(t *testing.T) {
	used := model.Usage{Input: 100_000, Output: 10_000}
	price := &model.Price{Rates: model.Rates{Input: 2, Output: 10}} // $0.30 an answer
	answer, last := attempt{usage: used}, attempt{usage: used, final: true}
	busy := attempt{err: model.Errorf(model.Transient, "busy")}
	cut := attempt{err: &model.Error{Kind: model.Cut, Message: "cut", Usage: model.Usage{Input: 50_000, Estimated: true}}}
	limited := func(after time.Duration) attempt {
		return attempt{err: &model.Error{Kind: model.RateLimited, Message: "slow down", RetryAfter: after}}
	}
	tests := map[string]struct {
		attempts []attempt
		change   func(*agent.Options)
		stop     agent.Stop
		turns    int
		requests int
		waits    int
		waited   time.Duration // at least, and at most a quarter more; 0 is not looked at
		cost     float64
		tokens   int
		took     time.Duration // at most
		says     string        // part of the error
	}{
		"no limit":             {attempts: []attempt{answer, last}, stop: agent.StopFinished, turns: 2, requests: 2, cost: 0.6, tokens: 220_000},
		"requests":             {attempts: []attempt{answer}, change: func(o *agent.Options) { o.MaxRequests = 3 }, stop: agent.StopMaxRequests, turns: 3, requests: 3, cost: 0.9, tokens: 330_000},
		"failed ones":          {attempts: []attempt{busy, answer, busy, answer}, change: func(o *agent.Options) { o.MaxRequests = 5 }, stop: agent.StopMaxRequests, turns: 3, requests: 5, waits: 2, cost: 0.9, tokens: 330_000},
		"no wait before":       {attempts: []attempt{answer, limited(time.Minute)}, change: func(o *agent.Options) { o.MaxRequests = 2 }, stop: agent.StopMaxRequests, turns: 1, requests: 2, took: 2 * time.Second, cost: 0.3, tokens: 110_000},
		"a last answer":        {attempts: []attempt{answer, last}, change: func(o *agent.Options) { o.MaxRequests = 2 }, stop: agent.StopFinished, turns: 2, requests: 2, cost: 0.6, tokens: 220_000},
		"money":                {attempts: []attempt{answer}, change: func(o *agent.Options) { o.MaxCost = 0.5 }, stop: agent.StopMaxCost, turns: 2, requests: 2, cost: 0.6, tokens: 220_000},
		"cut answers":          {attempts: []attempt{cut, answer}, change: func(o *agent.Options) { o.MaxCost = 0.4 }, stop: agent.StopMaxCost, turns: 1, requests: 2, waits: 1, cost: 0.4, tokens: 160_000},
		"money between tries":  {attempts: []attempt{cut}, change: func(o *agent.Options) { o.MaxCost = 0.2 }, stop: agent.StopMaxCost, requests: 2, waits: 1, cost: 0.2, tokens: 100_000, took: 4 * time.Second},
		"tokens between tries": {attempts: []attempt{cut}, change: func(o *agent.Options) { o.MaxTokens = 140_000 }, stop: agent.StopMaxTokens, requests: 3, waits: 2, cost: 0.3, tokens: 150_000, took: 7 * time.Second},
		"no try after both":    {attempts: []attempt{cut}, change: func(o *agent.Options) { o.MaxCost, o.MaxTokens = 0.1, 50_000 }, stop: agent.StopMaxTokens, requests: 1, cost: 0.1, tokens: 50_000, took: 2 * time.Second},
		"money in a turn":      {attempts: []attempt{answer, cut, last}, change: func(o *agent.Options) { o.MaxCost = 0.4 }, stop: agent.StopMaxCost, turns: 1, requests: 2, cost: 0.4, tokens: 160_000},
		"no try, no limit":     {attempts: []attempt{cut}, change: func(o *agent.Options) { o.MaxCost, o.Retry.Attempts = 0.1, 1 }, stop: agent.StopModel, requests: 1, cost: 0.1, tokens: 50_000, says: "cut"},
		"tokens first":         {attempts: []attempt{answer}, change: func(o *agent.Options) { o.MaxCost, o.MaxTokens = 0.9, 110_000 }, stop: agent.StopMaxTokens, turns: 1, requests: 1, cost: 0.3, tokens: 110_000},
		"turns first":          {attempts: []attempt{answer}, change: func(o *agent.Options) { o.MaxCost, o.MaxTurns, o.MaxRequests = 9, 2, 3 }, stop: agent.StopMaxTurns, turns: 2, requests: 2, cost: 0.6, tokens: 220_000},
		"time first":           {attempts: []attempt{answer}, change: func(o *agent.Options) { o.MaxTime, o.MaxTurns = 2500*time.Millisecond, 9 }, stop: agent.StopMaxTime, turns: 2, requests: 3, cost: 0.6, tokens: 220_000, took: 3 * time.Second},
		"waits count":          {attempts: []attempt{limited(7 * time.Second), limited(9 * time.Second), last}, stop: agent.StopFinished, turns: 1, requests: 3, waits: 2, waited: 16 * time.Second, cost: 0.3, tokens: 110_000, took: 24 * time.Second},
		"no time to wait": {
			attempts: []attempt{answer, limited(time.Minute)}, change: func(o *agent.Options) { o.MaxTime = 30 * time.Second },
			stop: agent.StopMaxTime, turns: 1, requests: 2, cost: 0.3, tokens: 110_000, took: 2 * time.Second, says: "no time is left for another try: slow down",
		},
		"too long a wait": {attempts: []attempt{limited(time.Hour)}, stop: agent.StopModel, requests: 1, took: time.Second, says: "not to be asked again before"},
		"no retry":        {attempts: []attempt{busy}, change: func(o *agent.Options) { o.Retry.Attempts = 1 }, stop: agent.StopModel, requests: 1, says: "busy"},
		"permanent":       {attempts: []attempt{{err: model.Errorf(model.Auth, "no")}}, stop: agent.StopModel, requests: 1, says: "no"},
		"filtered": {
			attempts: []attempt{{err: &model.Error{Kind: model.Filtered, Message: "no", Usage: used}}},
			stop:     agent.StopRefused, requests: 1, cost: 0.3, tokens: 110_000, says: "no",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, memory := newAgent(t, attempts(test.attempts...), registry(t, echo("look", tools.Read)), func(o *agent.Options) {
					o.Price = price
					if test.change != nil {
						test.change(o)
					}
				})
				got, err := a.Run(t.Context(), "go")
				if got.Stop != test.stop || got.Turns != test.turns || got.Requests != test.requests || got.Waits != test.waits {
					t.Errorf("%s after %d turns, %d requests and %d waits; want %s, %d, %d, %d",
						got.Stop, got.Turns, got.Requests, got.Waits, test.stop, test.turns, test.requests, test.waits)
				}
				if got.Cost == nil || math.Abs(*got.Cost-test.cost) > 1e-9 || got.Usage.Input+got.Usage.Output != test.tokens {
					t.Errorf("%+v, want $%g for %d tokens", got.Total(), test.cost, test.tokens)
				}
				if test.waited > 0 && (got.Waited < test.waited || got.Waited > test.waited*5/4) || test.took > 0 && got.Duration > test.took {
					t.Errorf("waited %s of %s, want %s of at most %s", got.Waited, got.Duration, test.waited, test.took)
				}
				if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
					t.Errorf("error %v, want one with %q", err, test.says)
				}
				checkSums(t, memory, got)
				checkPairs(t, memory)
			})
		})
	}
}

// checkSums: the usages on record add up to what the end and the outcome say.
func checkSums(t *testing.T, memory *trajectory.Memory, outcome agent.Outcome) {
	t.Helper()
	sum, retries := trajectory.Usage{CostUSD: new(0.0)}, 0
	var end trajectory.End
	for _, body := range memory.Bodies() {
		if usage, is := unnested(body).(trajectory.Usage); is {
			sum = sum.Add(usage) // that of sub-agents as well
		}
		switch b := body.(type) {
		case trajectory.Notice:
			if b.Kind == trajectory.NoticeRetry {
				retries++
			}
		case trajectory.End:
			end = b
		}
	}
	total := outcome.Total()
	if end.Usage == nil {
		t.Fatal("the end has no usage")
	}
	for name, got := range map[string]trajectory.Usage{"events": sum, "end": *end.Usage} {
		if diff := cmp.Diff(total, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-7 })); diff != "" {
			t.Errorf("the sum of the %s (-outcome +got):\n%s", name, diff)
		}
	}
	if end.Requests != outcome.Requests || end.Waits != outcome.Waits || end.WaitedMS != outcome.Waited.Milliseconds() || retries < end.Waits {
		t.Errorf("the end is %+v with %d notices of waits, the outcome %+v", end, retries, outcome)
	}
}

// A cost that nobody knows is not nothing.
func TestUnknownCost(t *testing.T) {
	a, memory := newAgent(t, answers(says("Done.")), registry(t))
	outcome, err := a.Run(t.Context(), "go")
	if err != nil || outcome.Cost != nil || outcome.Total().CostUSD != nil {
		t.Errorf("%+v and error %v", outcome, err)
	}
	for _, body := range memory.Bodies() {
		if end, ok := body.(trajectory.End); ok && (end.Usage == nil || end.Usage.CostUSD != nil) {
			t.Errorf("the end says %+v", end)
		}
	}
	o := agent.Options{Model: answers(says("a")), Tools: registry(t), Recorder: memory, MaxCost: 1}
	if _, err := agent.New(o); err == nil || !strings.Contains(err.Error(), "price") {
		t.Errorf("a limit on an unknown cost gives %v", err)
	}
}

// A long reason is not told again and again; another one, or that of another
// request, is told. Whoever asked for it is told after the record.
func TestWaitsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := func(text string) attempt { return attempt{err: model.Errorf(model.Transient, "%s", text)} }
		m := attempts(fail("busy"), fail("busy"), fail("cut"), fail("cut"), attempt{}, fail("cut"), attempt{final: true})
		told := 0
		a, memory := newAgent(t, m, registry(t, echo("look", tools.Read)), func(o *agent.Options) {
			o.Retry.Notify = func(model.Wait) error { told++; return nil }
		})
		if _, err := a.Run(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, body := range memory.Bodies() {
			if notice, ok := body.(trajectory.Notice); ok && notice.Kind == trajectory.NoticeRetry {
				why, _, _ := strings.Cut(notice.Text, "; trying again in ")
				got = append(got, why)
			}
		}
		want := []string{"busy", "still failing the same way", "cut", "still failing the same way", "cut"}
		if diff := cmp.Diff(want, got); diff != "" || told != len(want) {
			t.Errorf("told %d times (-want +got):\n%s", told, diff)
		}
	})
}

// What cannot be recorded is not waited for.
func TestWaitThatCannotBeRecorded(t *testing.T) {
	full := errors.New("disk full")
	a, err := agent.New(agent.Options{
		Model: attempts(attempt{err: &model.Error{Kind: model.RateLimited, Message: "busy", RetryAfter: time.Minute}}),
		Tools: registry(t), Recorder: &failingRecorder{at: 2, err: full},
	})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		outcome, err := a.Run(t.Context(), "go")
		if outcome.Stop != agent.StopRecord || !errors.Is(err, full) || outcome.Waits != 0 || outcome.Duration > time.Second {
			t.Errorf("%+v and error %v", outcome, err)
		}
	})
}

// TestWhyNoOtherTry: a run that a limit ends between two tries has on record
// why the last one failed, and what forbids another.
func TestWhyNoOtherTry(t *testing.T) {
	tests := map[string]struct {
		change func(*agent.Options)
		want   string
	}{
		"requests": {func(o *agent.Options) { o.MaxRequests = 1 }, "the wire broke; no more requests may be sent"},
		"tokens":   {func(o *agent.Options) { o.MaxTokens = 1000 }, "the wire broke; no more tokens may be used"},
		"money":    {func(o *agent.Options) { o.MaxCost = 0.001 }, "the wire broke; no more money may be spent"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := attempts(attempt{err: &model.Error{Kind: model.Cut, Message: "the wire broke", Usage: model.Usage{Input: 1000}}})
				a, memory := newAgent(t, m, registry(t), func(o *agent.Options) {
					o.Price = &model.Price{Rates: model.Rates{Input: 1, Output: 1}}
					test.change(o)
				})
				outcome, err := a.Run(t.Context(), "go")
				if got := lastNotice(memory); err != nil || outcome.Requests != 1 || got != test.want {
					t.Errorf("%q after %d requests and error %v, want %q", got, outcome.Requests, err, test.want)
				}
			})
		})
	}
}
