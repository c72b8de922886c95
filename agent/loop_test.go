package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/jsonschema-go/jsonschema"
)

func TestRunFinishes(t *testing.T) {
	m := answers(
		model.Response{Text: "I look.", Reasoning: "hm", Finish: model.FinishToolCalls, Calls: []model.ToolCall{call("look", `{"n":1}`)}},
		says("Done."))
	var said strings.Builder
	a, memory := newAgent(t, m, registry(t, echo("look", tools.Read)), func(o *agent.Options) {
		o.System = "Be good."
		o.Start = trajectory.Start{Session: "s", Engine: "e"}
		o.OnText = func(s string) { said.WriteString(s + "|") }
	})
	outcome, err := a.Run(t.Context(), "do\x00 it\r\n")
	if err != nil {
		t.Fatal(err)
	}
	outcome.Duration = 0
	want := agent.Outcome{Stop: agent.StopFinished, Final: "Done.", Turns: 2, Spent: agent.Spent{Usage: model.Usage{Input: 20, Output: 10}, Requests: 2}}
	if diff := cmp.Diff(want, outcome); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	wantStory := []string{
		"start do it\n", "user: do it\n",
		"assistant: I look.", "usage 10 5", `call call00001 look {"n":1}`, `result call00001 ok {"n":1}`,
		"assistant: Done.", "usage 10 5", "end finished 2 Done.",
	}
	if diff := cmp.Diff(wantStory, story(memory)); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(trajectory.Body(trajectory.Start{Session: "s", Engine: "e", Task: "do it\n", Model: "scripted"}), memory.Bodies()[0]); diff != "" {
		t.Errorf("start (-want +got):\n%s", diff)
	}
	if said.String() != "I look.|Done.|" {
		t.Errorf("onText got %q", said.String())
	}
	wantRequest := model.Request{
		System: "Be good.",
		Messages: []model.Message{
			{Role: model.User, Text: "do it\n"},
			{Role: model.Assistant, Text: "I look.", Reasoning: "hm", Calls: []model.ToolCall{{ID: "call00001", Name: "look", Arguments: `{"n":1}`}}},
			{Role: model.Tool, CallID: "call00001", Parts: []model.Part{{Text: `{"n":1}`}}},
		},
		Tools: []model.ToolDefinition{{Name: "look", Description: "A tool.", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"text":{"type":"string"}}}`)}},
	}
	if diff := cmp.Diff(wantRequest, m.requests[1], cmpopts.IgnoreFields(model.Request{}, "Resend")); diff != "" {
		t.Errorf("second request (-want +got):\n%s", diff)
	}
}

// What else there is to tell of a run stands before its end.
func TestClosing(t *testing.T) {
	a, memory := newAgent(t, answers(says("Done.")), registry(t), func(o *agent.Options) {
		o.Closing = func() []trajectory.Notice {
			return []trajectory.Notice{{Kind: trajectory.NoticeJobs, Text: "still\x00 there"}}
		}
	})
	if _, err := a.Run(t.Context(), "do it"); err != nil {
		t.Fatal(err)
	}
	bodies := memory.Bodies()
	want := []trajectory.Body{
		trajectory.Notice{Kind: trajectory.NoticeJobs, Text: "still there"},
		trajectory.End{Stop: string(agent.StopFinished), Final: "Done.", Turns: 1},
	}
	if diff := cmp.Diff(want, bodies[len(bodies)-2:], withoutSpent()); diff != "" {
		t.Errorf("the end of the record (-want +got):\n%s", diff)
	}
}

func TestStops(t *testing.T) {
	busy := asks(call("look", `{}`))
	different := func(n int) (all []model.Response) {
		for i := range n {
			all = append(all, asks(call("look", `{"n":`+strings.Repeat("1", i+1)+`}`)))
		}
		return all
	}
	cut := func(text string, calls ...model.ToolCall) model.Response {
		return model.Response{Text: text, Calls: calls, Finish: model.FinishLength}
	}
	// between puts the same answer before each of four calls and before the end.
	between := func(answer model.Response) (all []model.Response) {
		for _, good := range append(different(4), says("Done.")) {
			all = append(all, answer, good)
		}
		return all
	}
	tests := map[string]struct {
		answers []model.Response
		change  func(*agent.Options)
		stop    agent.Stop
		final   string
		turns   int
		says    string   // part of the error
		events  []string // notices, results and the end, where it matters
	}{
		"turns":         {answers: different(9), change: func(o *agent.Options) { o.MaxTurns = 2 }, stop: agent.StopMaxTurns, turns: 2},
		"default turns": {answers: different(60), stop: agent.StopMaxTurns, turns: agent.DefaultMaxTurns},
		"tokens":        {answers: different(9), change: func(o *agent.Options) { o.MaxTokens = 31 }, stop: agent.StopMaxTokens, turns: 3},
		"tokens do not spoil a last answer": {
			answers: []model.Response{says("Done.")}, change: func(o *agent.Options) { o.MaxTokens = 1 },
			stop: agent.StopFinished, turns: 1, final: "Done.",
		},
		"stuck": {answers: []model.Response{busy}, stop: agent.StopStuck, turns: 6, events: []string{"notice repeated_call", "notice stuck", "end stuck 6 "}},
		"not stuck when told": {
			answers: []model.Response{busy, busy, busy, asks(call("look", `{"n":1}`)), busy, busy, says("Done.")},
			stop:    agent.StopFinished, turns: 7, final: "Done.", events: []string{"notice repeated_call", "end finished 7 Done."},
		},
		"many equal calls at once are told first": {
			answers: []model.Response{asks(busy.Calls[0], busy.Calls[0], busy.Calls[0], busy.Calls[0], busy.Calls[0], busy.Calls[0], busy.Calls[0]), says("Done.")},
			stop:    agent.StopFinished, turns: 2, final: "Done.", events: []string{"notice repeated_call", "end finished 2 Done."},
		},
		"empty, then not": {
			answers: []model.Response{says(""), says(" \n"), says("Done.")}, stop: agent.StopFinished, turns: 3, final: "Done.",
			events: []string{"notice empty_answer", "notice empty_answer", "end finished 3 Done."},
		},
		"empty for ever":  {answers: []model.Response{says("")}, stop: agent.StopModel, turns: 3, says: "3 empty answers"},
		"reasoning alone": {answers: []model.Response{{Reasoning: "hm", Finish: model.FinishStop}}, stop: agent.StopModel, turns: 3, says: "empty"},
		"cut answer goes on": {
			answers: []model.Response{cut("One, "), cut("two, "), says("three.")}, stop: agent.StopFinished, turns: 3, final: "One, two, three.",
			events: []string{"notice cut_answer", "notice cut_answer", "end finished 3 One, two, three."},
		},
		"cut for ever": {answers: []model.Response{cut("a")}, stop: agent.StopStuck, turns: 3, final: "aaa"},
		"cut calls are not run": {
			answers: []model.Response{cut("", call("write", `{"n":1}`), call("write", `{"text":"half`)), says("Done.")},
			stop:    agent.StopFinished, turns: 2, final: "Done.",
		},
		"cut between good answers":       {answers: between(cut("")), stop: agent.StopFinished, final: "Done.", turns: 10},
		"cut calls between good answers": {answers: between(cut("", call("write", `{"n":1}`))), stop: agent.StopFinished, final: "Done.", turns: 10},
		"empty between good answers":     {answers: between(says("")), stop: agent.StopFinished, final: "Done.", turns: 10},
		"cut and empty in turn": {
			answers: []model.Response{cut("a"), says(""), cut("b"), says(""), cut("c"), says("")}, stop: agent.StopModel, turns: 6,
			final: "c", says: "3 empty answers",
		},
		"cut calls for ever": {answers: []model.Response{cut("", call("write", `{"n":1}`))}, stop: agent.StopStuck, turns: 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			written := 0
			set := registry(t, echo("look", tools.Read), tool{"write", tools.Write, func(context.Context, json.RawMessage) (tools.Result, error) {
				written++
				return tools.Text("written"), nil
			}})
			change := test.change
			if change == nil {
				change = func(*agent.Options) {}
			}
			a, memory := newAgent(t, answers(test.answers...), set, change)
			outcome, err := a.Run(t.Context(), "go")
			if outcome.Stop != test.stop || outcome.Final != test.final || outcome.Turns != test.turns {
				t.Errorf("outcome %+v, want %s, %q after %d", outcome, test.stop, test.final, test.turns)
			}
			if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want one with %q", err, test.says)
			}
			if written != 0 {
				t.Error("a call of a cut answer was run")
			}
			lines := story(memory)
			if test.events != nil {
				got := without(lines, "start", "user", "assistant", "usage", "call", "result")
				if diff := cmp.Diff(test.events, got); diff != "" {
					t.Errorf("record (-want +got):\n%s", diff)
				}
			}
			checkPairs(t, memory)
		})
	}
}

// checkPairs: every call on record has exactly one result after it, and the
// end is the last event.
func checkPairs(t *testing.T, memory *trajectory.Memory) {
	t.Helper()
	open, answered := map[string]bool{}, map[string]bool{}
	bodies := memory.Bodies()
	for _, body := range bodies {
		switch b := body.(type) {
		case trajectory.ToolCall:
			if open[b.CallID] {
				t.Errorf("the call %s is there twice", b.CallID)
			}
			open[b.CallID] = true
		case trajectory.ToolResult:
			if !open[b.CallID] || answered[b.CallID] {
				t.Errorf("the result of %s comes before the call or twice", b.CallID)
			}
			answered[b.CallID] = true
		}
	}
	checkSchema(t, memory)
	if len(open) != len(answered) {
		t.Errorf("%d calls and %d results", len(open), len(answered))
	}
	if _, ok := bodies[len(bodies)-1].(trajectory.End); !ok {
		t.Errorf("the last event is %T", bodies[len(bodies)-1])
	}
}

// checkSchema holds every event against the schema of the record, made strict.
func checkSchema(t *testing.T, memory *trajectory.Memory) {
	t.Helper()
	var schema jsonschema.Schema
	if err := json.Unmarshal(trajectory.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	for _, def := range schema.Defs {
		if def.Properties != nil {
			def.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
		}
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range memory.Events() {
		line, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(line, &value); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(value); err != nil {
			t.Errorf("%s does not fit the schema: %v", line, err)
		}
	}
}

func TestModelErrors(t *testing.T) {
	tests := map[string]struct {
		err  error
		stop agent.Stop
	}{
		"filtered": {model.Errorf(model.Filtered, "no"), agent.StopRefused},
		"auth":     {model.Errorf(model.Auth, "no"), agent.StopModel},
		"overflow": {model.Errorf(model.Context, "no"), agent.StopMaxContext},
		"other":    {errors.New("no"), agent.StopModel},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := answers(asks(call("look", "{}")), says(""))
			m.turns[1] = func(context.Context, model.Request) (model.Response, error) { return model.Response{}, test.err }
			a, memory := newAgent(t, m, registry(t, echo("look", tools.Read)))
			outcome, err := a.Run(t.Context(), "go")
			if outcome.Stop != test.stop || !errors.Is(err, test.err) || outcome.Turns != 1 {
				t.Errorf("outcome %+v and error %v", outcome, err)
			}
			checkPairs(t, memory)
			bodies := memory.Bodies()
			want := []trajectory.Body{
				trajectory.Notice{Kind: "error", Text: err.Error()},
				trajectory.End{Stop: string(test.stop), Turns: 1},
			}
			if diff := cmp.Diff(want, bodies[max(len(bodies)-2, 0):], withoutSpent()); diff != "" {
				t.Errorf("the end of the record (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMaxTime(t *testing.T) {
	wait := tool{"wait", tools.Execute, func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
		<-ctx.Done()
		return tools.Result{}, ctx.Err()
	}}
	slow := &scripted{turns: []func(context.Context, model.Request) (model.Response, error){
		func(ctx context.Context, _ model.Request) (model.Response, error) {
			<-ctx.Done()
			return model.Response{}, context.Cause(ctx)
		},
	}}
	for name, m := range map[string]model.Model{"in a tool": answers(asks(call("wait", "{}"), call("wait", "{}"))), "in the model": slow} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, memory := newAgent(t, m, registry(t, wait), func(o *agent.Options) { o.MaxTime = time.Minute })
				outcome, err := a.Run(t.Context(), "go")
				if outcome.Stop != agent.StopMaxTime || err != nil || outcome.Duration != time.Minute {
					t.Errorf("outcome %+v and error %v", outcome, err)
				}
				checkPairs(t, memory)
			})
		})
	}
}

func TestCancel(t *testing.T) {
	stop := errors.New("interrupted by INT")
	ctx, cancel := context.WithCancelCause(t.Context())
	set := registry(t, echo("look", tools.Read), tool{"run", tools.Execute, func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
		cancel(stop)
		<-ctx.Done()
		return tools.Result{}, ctx.Err()
	}})
	a, memory := newAgent(t, answers(asks(call("look", "{}"), call("run", "{}"), call("look", "{}"))), set)
	outcome, err := a.Run(ctx, "go")
	if outcome.Stop != agent.StopCanceled || !errors.Is(err, stop) {
		t.Errorf("outcome %+v and error %v", outcome, err)
	}
	want := []string{
		"call call00001 look {}", "result call00001 ok {}",
		"call call00002 run {}", "result call00002 interrupted " + model.Interrupted,
		"call call00003 look {}", "result call00003 not_run not run: the run ended before this call",
		"end canceled 1 ",
	}
	if diff := cmp.Diff(want, without(story(memory), "start", "user", "assistant", "usage")); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

// TestRecordFailureStops fails the record at each event in turn: nothing may
// happen after it.
func TestRecordFailureStops(t *testing.T) {
	full := errors.New("disk full")
	for at := range 9 {
		ran := 0
		set := registry(t, tool{"run", tools.Execute, func(context.Context, json.RawMessage) (tools.Result, error) {
			ran++
			return tools.Text("ok"), nil
		}})
		m := answers(asks(call("run", "{}")), says("Done."))
		r := &failingRecorder{at: at, err: full}
		a, err := agent.New(agent.Options{Model: m, Tools: set, Recorder: r})
		if err != nil {
			t.Fatal(err)
		}
		outcome, err := a.Run(t.Context(), "go")
		if outcome.Stop != agent.StopRecord || !errors.Is(err, full) {
			t.Errorf("failure at event %d: outcome %+v and error %v", at, outcome, err)
		}
		if r.after > 0 {
			t.Errorf("failure at event %d: %d events were tried after it", at, r.after)
		}
		wantRan, wantAsked := 0, 0
		if at >= 2 {
			wantAsked++
		}
		if at >= 5 {
			wantRan = 1
		}
		if at >= 6 {
			wantAsked++
		}
		if ran != wantRan || len(m.requests) != wantAsked {
			t.Errorf("failure at event %d: %d calls ran and %d requests were sent, want %d and %d", at, ran, len(m.requests), wantRan, wantAsked)
		}
	}
}

// failingRecorder fails from one event on.
type failingRecorder struct {
	at, seen, after int
	err             error
}

func (r *failingRecorder) Record(trajectory.Body) error {
	r.seen++
	if r.seen <= r.at {
		return nil
	}
	if r.seen > r.at+1 {
		r.after++
	}
	return r.err
}

func TestNewRefuses(t *testing.T) {
	good := agent.Options{Model: answers(says("a")), Tools: new(tools.Registry), Recorder: &trajectory.Memory{}}
	for name, change := range map[string]func(*agent.Options){
		"no model":       func(o *agent.Options) { o.Model = nil },
		"no tools":       func(o *agent.Options) { o.Tools = nil },
		"no recorder":    func(o *agent.Options) { o.Recorder = nil },
		"negative turns": func(o *agent.Options) { o.MaxTurns = -1 },
		"negative time":  func(o *agent.Options) { o.MaxTime = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			change(&o)
			if _, err := agent.New(o); err == nil {
				t.Error("no error")
			}
		})
	}
	if _, err := agent.New(good); err != nil {
		t.Errorf("good options: %v", err)
	}
}
