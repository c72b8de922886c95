package replay_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/replay"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// A list is a model that gives answers in turn, and then fails.
type list struct{ answers []model.Response }

func (l *list) Name() string { return "list" }

func (l *list) Generate(_ context.Context, req model.Request, _ func(string)) (model.Response, error) {
	if len(l.answers) == 0 {
		return model.Response{}, model.Errorf(model.Permanent, "no more")
	}
	next := l.answers[0]
	l.answers = l.answers[1:]
	model.AssignIDs(req.Messages, next.Calls)
	return next, nil
}

// An echo is a tool that gives its arguments and a word back.
type echo struct{ word string }

func (echo) Definition() tools.Definition {
	return tools.Definition{Name: "echo", Schema: &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{"a": {Type: "number"}, "b": {Type: "number"}},
	}}
}

func (e echo) Execute(_ context.Context, args json.RawMessage) (tools.Result, error) {
	return tools.Text(string(args) + "\n" + e.word), nil
}

// work runs the agent on a model into a session of its own.
func work(t *testing.T, m model.Model, word, task string, recorder func(trajectory.Recorder) trajectory.Recorder) (*trajectory.Session, agent.Outcome, error) {
	t.Helper()
	set := new(tools.Registry)
	if err := set.Register(echo{word}); err != nil {
		t.Fatal(err)
	}
	session, err := trajectory.Create(t.TempDir(), trajectory.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	record := recorder(session.Writer())
	if recorded, ok := m.(*replay.Model); ok {
		recorded.Watch(func(s string) string { return s }, func(text string) error {
			return record.Record(trajectory.Notice{Kind: trajectory.NoticeReplay, Text: text})
		})
	}
	worker, err := agent.New(agent.Options{Model: m, Tools: set, Recorder: record, Price: &model.Price{}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := worker.Run(t.Context(), task)
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	return session, out, err
}

func plain(r trajectory.Recorder) trajectory.Recorder { return r }

// story is what a session tells, without what is another one each time.
func story(t *testing.T, session *trajectory.Session) []trajectory.Body {
	t.Helper()
	var bodies []trajectory.Body
	for event, err := range reader(t, session).All() {
		if err != nil {
			t.Fatal(err)
		}
		switch body := event.Body.(type) {
		case trajectory.Start:
			body.Model = ""
			bodies = append(bodies, body)
		case trajectory.ToolResult:
			body.DurationMS = 0
			bodies = append(bodies, body)
		default:
			bodies = append(bodies, body)
		}
	}
	return bodies
}

func asks(text string, args ...string) model.Response {
	r := model.Response{Text: text, Reasoning: "hm", Finish: model.FinishToolCalls, Usage: model.Usage{Input: 10, Output: 5, Cached: 2, Reasoning: 1}}
	for _, a := range args {
		r.Calls = append(r.Calls, model.ToolCall{Name: "echo", Arguments: a, Extra: `{"x":1}`, Origin: "o"})
	}
	return r
}

func says(text string) model.Response {
	return model.Response{Text: text, Finish: model.FinishStop, Usage: model.Usage{Input: 20, Output: 6}}
}

func cut(r model.Response) model.Response {
	r.Finish = model.FinishLength
	return r
}

// TestModelServesTheRun: a run on the answers of another tells the same story,
// whatever kind its answers were of.
func TestModelServesTheRun(t *testing.T) {
	same := asks("", `{"a":1}`)
	for _, tc := range []struct {
		name    string
		answers []model.Response
	}{
		{"an answer", []model.Response{says("It is done.")}},
		{"calls", []model.Response{asks("I look.", `{"a":1}`, `{"b":2}`), asks("", `{"a":`), says("Done.")}},
		{"empty answers", []model.Response{{Finish: model.FinishStop}, says("Done.")}},
		{"cut answers", []model.Response{cut(says("It is")), cut(asks("Now", `{"a":`)), says(" done.")}},
		{"nothing but cut answers", []model.Response{cut(says("a")), cut(asks("", `{}`)), cut(asks("", `{"b"`))}},
		{"a circle", []model.Response{same, same, same, same, same, same}},
		{"a call that is written", []model.Response{says(`<tool_call>{"name": "echo", "arguments": {"a": 1}}</tool_call>`), says("Done.")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			then, outThen, errThen := work(t, &list{tc.answers}, "w", "go", plain)
			m, err := replay.NewModel("ID", reader(t, then))
			if err != nil {
				t.Fatal(err)
			}
			now, outNow, errNow := work(t, m, "w", "go", plain)
			if diff := cmp.Diff(story(t, then), story(t, now)); diff != "" {
				t.Errorf("story (-recorded +replayed):\n%s", diff)
			}
			if outThen.Stop != outNow.Stop || outThen.Final != outNow.Final || (errThen == nil) != (errNow == nil) {
				t.Errorf("ended %s %q %v, recorded %s %q %v", outNow.Stop, outNow.Final, errNow, outThen.Stop, outThen.Final, errThen)
			}
		})
	}
}

// TestModelTellsOfAnotherWay: the first request that is another one is told,
// once, and the answers go on.
func TestModelTellsOfAnotherWay(t *testing.T) {
	answers := []model.Response{asks("", `{"a":1}`), asks("", `{"a":2}`), says("Done.")}
	then, _, _ := work(t, &list{answers}, "word", "go", plain)
	for _, tc := range []struct{ name, word, task, want string }{
		{"the same", "word", "go", ""},
		{"another result", "other", "go", `request 2 is not the recorded one, and is given the recorded answer all the same, as are those after it: ` +
			`the result of the call call00001 differs in line 2: "word" was recorded, and now it is "other"`},
		{"another task", "other", "come", `request 1 is not the recorded one, and is given the recorded answer all the same, as are those after it: ` +
			`the task differs in line 1: "go" was recorded, and now it is "come"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := replay.NewModel("ID", reader(t, then))
			if err != nil {
				t.Fatal(err)
			}
			now, out, err := work(t, m, tc.word, tc.task, plain)
			if err != nil || out.Stop != agent.StopFinished {
				t.Errorf("ended %s, %v", out.Stop, err)
			}
			var told []string
			for _, body := range story(t, now) {
				if notice, ok := body.(trajectory.Notice); ok {
					told = append(told, notice.Text)
				}
			}
			if got := strings.Join(told, "\n"); got != tc.want {
				t.Errorf("told %q, want %q", got, tc.want)
			}
		})
	}
}

// TestModelSecrets: what is hidden in the record is no difference.
func TestModelSecrets(t *testing.T) {
	masker := trajectory.NewMasker("sesame-open")
	then, _, _ := work(t, &list{[]model.Response{asks("", `{}`), says("Done.")}}, "sesame-open", "go", masker.Wrap)
	m, err := replay.NewModel("ID", reader(t, then))
	if err != nil {
		t.Fatal(err)
	}
	m.Watch(masker.Mask, func(text string) error { t.Error(text); return nil })
	req := model.Request{Messages: []model.Message{{Role: model.User, Text: "go"}}}
	first, err := m.Generate(t.Context(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Calls: first.Calls}, model.Message{
		Role: model.Tool, CallID: first.Calls[0].ID, Parts: []model.Part{{Text: "{}\nsesame-open"}},
	})
	if _, err := m.Generate(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
}

// TestModelEnds: a run that asks for more than there is ends with what to do,
// and a record that was cut serves what is whole.
func TestModelEnds(t *testing.T) {
	then, _, _ := work(t, &list{[]model.Response{asks("", `{"a":1}`)}}, "w", "go", plain) // ends as the list does
	m, err := replay.NewModel("ID", reader(t, then))
	if err != nil {
		t.Fatal(err)
	}
	_, out, err := work(t, m, "w", "go", plain)
	if out.Stop != agent.StopModel || err == nil || !strings.Contains(err.Error(), "1 answer and is asked for one more: the recorded run stopped here; to go on") {
		t.Errorf("ended %s, %v", out.Stop, err)
	}
	if _, err := replay.NewModel("ID", reader(t, recorded(t, trajectory.Message{Role: "user", Text: "go"}))); err == nil {
		t.Error("a record without answers is no error")
	}
	broken := errors.New("the record cannot be written")
	m, err = replay.NewModel("ID", reader(t, then))
	if err != nil {
		t.Fatal(err)
	}
	m.Watch(func(s string) string { return s }, func(string) error { return broken })
	if _, err := m.Generate(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Text: "come"}}}, nil); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// TestModelGivesNoSummary: a request for a summary takes no answer away.
func TestModelGivesNoSummary(t *testing.T) {
	then, _, _ := work(t, &list{[]model.Response{asks("", `{"a":1}`), says("Done.")}}, "w", "go", plain)
	m, err := replay.NewModel("ID", reader(t, then))
	if err != nil {
		t.Fatal(err)
	}
	offer := model.Request{Messages: []model.Message{{Role: model.User, Text: "go"}}, Tools: []model.ToolDefinition{{Name: "echo"}}}
	if _, err := m.Generate(t.Context(), offer, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Generate(t.Context(), model.Request{Messages: offer.Messages}, nil); model.KindOf(err) != model.Permanent {
		t.Errorf("error %v", err)
	}
	if got, err := m.Generate(t.Context(), offer, nil); err != nil || got.Text != "Done." {
		t.Errorf("then %q, %v", got.Text, err)
	}
}
