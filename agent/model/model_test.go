package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belljar/belljar/agent/model"
	"github.com/google/go-cmp/cmp"
)

// failing fails with each error in turn and then answers.
type failing struct {
	errs  []error
	tries int
	each  time.Duration // how long a try takes
}

func (f *failing) Name() string { return "failing" }

func (f *failing) Generate(ctx context.Context, _ model.Request, onText func(string)) (model.Response, error) {
	f.tries++
	time.Sleep(f.each)
	if f.tries <= len(f.errs) {
		return model.Response{}, f.errs[f.tries-1]
	}
	return model.Response{Text: "ok"}, nil
}

func repeat(err error, n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}

func TestRetry(t *testing.T) {
	asked := func(d time.Duration) error {
		return &model.Error{Kind: model.RateLimited, RetryAfter: d, Message: "slow down"}
	}
	transient := model.Errorf(model.Transient, "busy")
	stop := errors.New("cannot be recorded")
	tests := map[string]struct {
		errs     []error
		policy   model.RetryPolicy
		deadline time.Duration
		notify   error
		tries    int
		waits    int
		min, max time.Duration // all waits together
		says     string        // part of the error; "" is success
	}{
		"no failure":           {tries: 1},
		"one failure":          {errs: repeat(transient, 1), tries: 2, waits: 1, min: 750 * time.Millisecond, max: time.Second},
		"doubling":             {errs: repeat(transient, 5), tries: 6, waits: 5, min: 23 * time.Second, max: 31 * time.Second},
		"too many":             {errs: repeat(transient, 8), tries: 8, waits: 7, min: 68 * time.Second, max: 91 * time.Second, says: "gave up after 8 tries: busy"},
		"asked for too little": {errs: repeat(asked(time.Millisecond), 3), tries: 4, waits: 3, min: 5 * time.Second, max: 7 * time.Second},
		"no such host":         {errs: repeat(model.Errorf(model.NoHost, "no"), 1), tries: 1, says: "no"},

		"as asked":             {errs: repeat(asked(7*time.Second), 1), tries: 2, waits: 1, min: 7 * time.Second, max: 8750 * time.Millisecond},
		"asked for too long":   {errs: repeat(asked(time.Hour), 1), tries: 1, says: "again before "},
		"as asked, for long":   {errs: repeat(asked(2*time.Minute), 1), tries: 2, waits: 1, min: 2 * time.Minute, max: 150 * time.Second},
		"just in time":         {errs: repeat(asked(20*time.Second), 1), deadline: 20*time.Second + time.Millisecond, tries: 2, waits: 1, min: 20 * time.Second, max: 20*time.Second + time.Millisecond},
		"an outage":            {errs: repeat(transient, 40), policy: model.RetryPolicy{MaxWait: time.Hour}, tries: 41, waits: 40, min: 12 * time.Minute, max: 20 * time.Minute},
		"a longer outage":      {errs: repeat(transient, 999), policy: model.RetryPolicy{MaxWait: 10 * time.Minute}, tries: -1, waits: -1, min: 10 * time.Minute, max: 10 * time.Minute, says: "and waits of 10m0s: busy"},
		"asked for long":       {errs: repeat(asked(time.Hour), 1), policy: model.RetryPolicy{MaxWait: 2 * time.Hour}, tries: 2, waits: 1, min: time.Hour, max: time.Hour + 30*time.Second},
		"asked for all":        {errs: repeat(asked(time.Hour), 2), policy: model.RetryPolicy{MaxWait: time.Hour}, tries: 2, waits: 1, min: time.Hour, max: time.Hour, says: "and waits of 1h0m0s: slow down"},
		"asked for more":       {errs: repeat(asked(time.Hour), 2), policy: model.RetryPolicy{MaxWait: 90 * time.Minute}, tries: 2, waits: 1, min: time.Hour, max: time.Hour + 30*time.Second, says: "again before "},
		"what costs":           {errs: repeat(&model.Error{Kind: model.Transient, Message: "broke off", Usage: model.Usage{Input: 9}}, 20), policy: model.RetryPolicy{MaxWait: time.Hour}, tries: 8, waits: 7, min: 68 * time.Second, max: 91 * time.Second, says: "gave up after 8 tries: broke off"},
		"cut again and again":  {errs: repeat(model.Errorf(model.Cut, "cut"), 20), policy: model.RetryPolicy{MaxWait: time.Hour}, tries: 8, waits: 7, min: 68 * time.Second, max: 91 * time.Second, says: "gave up after 8 tries: cut"},
		"no retry at all":      {errs: repeat(transient, 2), policy: model.RetryPolicy{MaxWait: time.Hour, Attempts: 1}, tries: 1, says: "busy"},
		"a bad call":           {errs: repeat(model.Errorf(model.BadCall, "no"), 1), tries: 1, says: "no"},
		"past the deadline":    {errs: repeat(asked(20*time.Second), 1), deadline: 10 * time.Second, tries: 1, says: "no time is left for another try: slow down"},
		"cut":                  {errs: repeat(model.Errorf(model.Cut, "cut"), 1), tries: 2, waits: 1, max: time.Second},
		"stalled":              {errs: repeat(model.Errorf(model.Stalled, "stalled"), 1), tries: 2, waits: 1, max: time.Second},
		"auth":                 {errs: repeat(model.Errorf(model.Auth, "no"), 1), tries: 1, says: "no"},
		"bad request":          {errs: repeat(model.Errorf(model.BadRequest, "no"), 1), tries: 1, says: "no"},
		"overflow":             {errs: repeat(model.Errorf(model.Context, "no"), 1), tries: 1, says: "no"},
		"filtered":             {errs: repeat(model.Errorf(model.Filtered, "no"), 1), tries: 1, says: "no"},
		"permanent":            {errs: repeat(model.Errorf(model.Permanent, "no"), 1), tries: 1, says: "no"},
		"an error of no kind":  {errs: repeat(errors.New("no"), 1), tries: 1, says: "no"},
		"transient, then auth": {errs: []error{transient, model.Errorf(model.Auth, "no")}, tries: 2, waits: 1, max: time.Second, says: "no"},
		"notify fails":         {errs: repeat(transient, 2), notify: stop, tries: 1, waits: 1, says: "cannot be recorded"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.deadline)
					defer cancel()
				}
				waits := 0
				f := &failing{errs: test.errs}
				policy := test.policy
				policy.Notify = func(w model.Wait) error {
					waits++
					if w.Attempt != waits || w.Delay <= 0 || !strings.Contains(w.String(), "trying again in") {
						t.Errorf("told of %+v at wait %d", w, waits)
					}
					return test.notify
				}
				m := model.WithRetry(f, policy)
				start := time.Now()
				resp, err := m.Generate(ctx, model.Request{}, nil)
				if took := time.Since(start); took < test.min || took > test.max {
					t.Errorf("waited %s, want %s to %s", took, test.min, test.max)
				}
				if test.tries >= 0 && (f.tries != test.tries || waits != test.waits) {
					t.Errorf("%d tries and %d waits, want %d and %d", f.tries, waits, test.tries, test.waits)
				}
				switch {
				case test.says == "" && (err != nil || resp.Text != "ok"):
					t.Errorf("answer %q and error %v", resp.Text, err)
				case test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)):
					t.Errorf("error %v, want one with %q", err, test.says)
				}
				if m.Name() != "failing" {
					t.Errorf("name %q", m.Name())
				}
			})
		})
	}
}

// TestRetryJitter: those that failed together do not come back together, be it
// that the server said when or not.
func TestRetryJitter(t *testing.T) {
	for name, test := range map[string]struct {
		asked, least, most time.Duration
	}{
		"of its own": {0, 750 * time.Millisecond, time.Second},
		"as asked":   {7 * time.Second, 7 * time.Second, 8750 * time.Millisecond},
		"for long":   {2 * time.Minute, 2 * time.Minute, 150 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			waits := map[time.Duration]bool{}
			told := errors.New("told")
			for range 20 {
				m := model.WithRetry(&failing{errs: repeat(&model.Error{Kind: model.RateLimited, Message: "busy", RetryAfter: test.asked}, 1)},
					model.RetryPolicy{Notify: func(w model.Wait) error {
						if w.Delay < test.least || w.Delay > test.most {
							t.Errorf("a wait of %s, want %s to %s", w.Delay, test.least, test.most)
						}
						waits[w.Delay] = true
						return told
					}})
				if _, err := m.Generate(t.Context(), model.Request{}, nil); !errors.Is(err, told) {
					t.Fatal(err)
				}
			}
			if len(waits) < 2 {
				t.Errorf("twenty runs all wait for %v", waits)
			}
		})
	}
}

func TestRetryWaitIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		f := &failing{errs: repeat(&model.Error{Kind: model.RateLimited, RetryAfter: time.Minute, Message: "busy"}, 1)}
		time.AfterFunc(time.Second, func() { cancel(stop) })
		start := time.Now()
		_, err := model.WithRetry(f, model.RetryPolicy{}).Generate(ctx, model.Request{}, nil)
		if !errors.Is(err, stop) || f.tries != 1 || time.Since(start) != time.Second {
			t.Errorf("error %v after %d tries and %s", err, f.tries, time.Since(start))
		}
	})
}

// A name that was known before and is not now is a lost network.
func TestRetryLostNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &failing{}
		m := model.WithRetry(f, model.RetryPolicy{})
		for range 2 {
			if _, err := m.Generate(t.Context(), model.Request{}, nil); err != nil {
				t.Fatal(err)
			}
			f.tries, f.errs = 0, repeat(model.Errorf(model.NoHost, "no host"), 3)
		}
	})
}

// A wait that the time does not suffice for is told from other failures.
func TestRetryNoTime(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	busy := &model.Error{Kind: model.RateLimited, RetryAfter: 100 * time.Second, Message: "busy"}
	_, err := model.WithRetry(&failing{errs: repeat(busy, 9)}, model.RetryPolicy{}).Generate(ctx, model.Request{}, nil)
	if !errors.Is(err, model.ErrNoTime) || model.KindOf(err) != model.RateLimited {
		t.Errorf("error %v", err)
	}
}

func TestErrorf(t *testing.T) {
	cause := errors.New("cause")
	err := error(model.Errorf(model.Cut, "reading %d: %w", 1, cause))
	if err.Error() != "reading 1: cause" || !errors.Is(err, cause) || model.KindOf(err) != model.Cut {
		t.Errorf("%v of kind %q", err, model.KindOf(err))
	}
	if kind := model.KindOf(cause); kind != "" {
		t.Errorf("kind %q of an ordinary error", kind)
	}
}

func TestRepair(t *testing.T) {
	user := func(s string) model.Message { return model.Message{Role: model.User, Text: s} }
	says := func(s string, ids ...string) model.Message {
		m := model.Message{Role: model.Assistant, Text: s}
		for _, id := range ids {
			m.Calls = append(m.Calls, model.ToolCall{ID: id, Name: "n", Arguments: "{}"})
		}
		return m
	}
	tool := func(id, s string) model.Message {
		return model.Message{Role: model.Tool, CallID: id, Parts: []model.Part{{Text: s}}}
	}
	lost := func(id string) model.Message {
		m := tool(id, model.Interrupted)
		m.IsError = true
		return m
	}
	tests := map[string]struct{ in, want []model.Message }{
		"empty":            {nil, nil},
		"whole":            {[]model.Message{user("a"), says("", "1", "2"), tool("1", "x"), tool("2", "y"), says("b")}, []model.Message{user("a"), says("", "1", "2"), tool("1", "x"), tool("2", "y"), says("b")}},
		"killed in a call": {[]model.Message{user("a"), says("", "1", "2"), tool("1", "x")}, []model.Message{user("a"), says("", "1", "2"), tool("1", "x"), lost("2")}},
		"killed, go on":    {[]model.Message{user("a"), says("", "1"), user("go on")}, []model.Message{user("a"), says("", "1"), lost("1"), user("go on")}},
		"out of order":     {[]model.Message{says("", "1", "2"), tool("2", "y"), tool("1", "x")}, []model.Message{says("", "1", "2"), tool("1", "x"), tool("2", "y")}},
		"twice":            {[]model.Message{says("", "1"), tool("1", "x"), tool("1", "y")}, []model.Message{says("", "1"), tool("1", "x")}},
		"without a call":   {[]model.Message{user("a"), tool("1", "x"), says("b")}, []model.Message{user("a"), says("b")}},
		"too late":         {[]model.Message{says("", "1"), says("b"), tool("1", "x")}, []model.Message{says("", "1"), lost("1"), says("b")}},
		"user between":     {[]model.Message{says("", "1"), user("a"), tool("1", "x")}, []model.Message{says("", "1"), tool("1", "x"), user("a")}},
		"users joined":     {[]model.Message{user("a"), user("b"), says(" "), user("c")}, []model.Message{user("a\n\nb\n\nc")}},
		"says nothing":     {[]model.Message{user("a"), says("b"), user(" \n"), says("c", "1"), tool("1", "x")}, []model.Message{user("a"), says("b\n\nc", "1"), tool("1", "x")}},
		"spoke twice":      {[]model.Message{says("a"), says("", "1"), tool("1", "x"), says("b")}, []model.Message{says("a", "1"), tool("1", "x"), says("b")}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := append([]model.Message(nil), test.in...)
			got := model.Repair(test.in)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("repaired (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(got, model.Repair(got)); diff != "" {
				t.Errorf("a second repair changed it:\n%s", diff)
			}
			if diff := cmp.Diff(before, test.in); diff != "" {
				t.Errorf("the argument was changed:\n%s", diff)
			}
		})
	}
}

func TestAssignIDs(t *testing.T) {
	calls := func(ids ...string) []model.ToolCall {
		var out []model.ToolCall
		for _, id := range ids {
			out = append(out, model.ToolCall{ID: id})
		}
		return out
	}
	tests := map[string]struct{ before, in, want []model.ToolCall }{
		"none given":       {nil, calls("", ""), calls("call00001", "call00002")},
		"kept":             {calls("a"), calls("b", "c"), calls("b", "c")},
		"taken before":     {calls("a"), calls("a"), calls("call00002")},
		"taken beside":     {nil, calls("a", "a"), calls("a", "call00001")},
		"made up is taken": {calls("call00002"), calls(""), calls("call00003")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			model.AssignIDs([]model.Message{{Role: model.Assistant, Calls: test.before}}, test.in)
			if diff := cmp.Diff(test.want, test.in); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	req := model.Request{
		System: "1234", Messages: []model.Message{{Text: "1234", Parts: []model.Part{{Text: "1234"}, {MediaType: "image/png"}}}},
		Tools: []model.ToolDefinition{{Name: "12", Description: "34"}},
	}
	got := model.EstimateUsage(req, model.Response{Text: "1", Calls: []model.ToolCall{{Name: "12", Arguments: "34"}}})
	if want := (model.Usage{Input: 1004, Output: 2, Estimated: true}); got != want {
		t.Errorf("estimate %+v, want %+v", got, want)
	}
	sum := got.Add(model.Usage{Input: 1, Output: 2, Cached: 3})
	if want := (model.Usage{Input: 1005, Output: 4, Cached: 3, Estimated: true}); sum != want {
		t.Errorf("sum %+v, want %+v", sum, want)
	}
}
