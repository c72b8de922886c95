package replay_test

import (
	"os"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/replay"
	"github.com/belljar/belljar/agent/trajectory"
)

// TestModelByAgent: each agent is given its own answers, also where the run
// starts other sub-agents than the recorded one did.
func TestModelByAgent(t *testing.T) {
	below := func(parent string, body trajectory.Body) trajectory.Body {
		return trajectory.Nested{Parent: parent, Body: body}
	}
	user := func(text string) trajectory.Body { return trajectory.Message{Role: "user", Text: text} }
	answer := func(text string) trajectory.Body { return trajectory.Message{Role: "assistant", Text: text} }
	session := recorded(t,
		user("go"), answer("One."), call("a", "agent"),
		below("a", user("look")), below("a", answer("Looked.")), below("a", trajectory.End{}), result("a", "Looked."),
		call("b", "agent"),
		below("b", user("find")), below("b", answer("Found.")), below("b", trajectory.End{}), result("b", "Found."),
		answer("Done."), trajectory.End{},
	)
	task := func(text string) []model.Message { return []model.Message{{Role: model.User, Text: text}} }
	later := append(task("go"), model.Message{Role: model.Assistant}, model.Message{Role: model.Tool, CallID: "b"})
	const none = "has no answers to this sub-agent"
	for _, tc := range []struct {
		name     string
		requests [][]model.Message
		want     string
	}{
		{"as recorded", [][]model.Message{task("go"), task("look"), task("find"), later}, "One. Looked. Found. Done."},
		{"none", [][]model.Message{task("go"), later}, "One. Done."},
		{"only the second", [][]model.Message{task("go"), task("find"), later}, "One. Found. Done."},
		{"other tasks", [][]model.Message{task("go"), task("x"), task("y"), later}, "One. Looked. Found. Done."},
		{"one more", [][]model.Message{task("go"), task("x"), task("y"), task("z"), later}, "One. Looked. Found. " + none + " Done."},
		{"later", [][]model.Message{task("go"), later, task("look")}, "One. Done. " + none},
		{
			"a sub-agent that goes on",
			[][]model.Message{task("go"), task("look"), append(task("look"), model.Message{Role: model.Assistant}, model.Message{Role: model.User}), later},
			"One. Looked. asked for one more Done.",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := replay.NewModel("ID", reader(t, session))
			if err != nil {
				t.Fatal(err)
			}
			m.Watch(func(s string) string { return s }, func(string) error { return nil })
			var got []string
			for _, messages := range tc.requests {
				resp, err := m.Generate(t.Context(), model.Request{Messages: messages}, nil)
				text := resp.Text
				for _, part := range []string{none, "asked for one more"} {
					if err != nil && strings.Contains(err.Error(), part) {
						text = part
					}
				}
				got = append(got, text)
			}
			if got := strings.Join(got, " "); got != tc.want {
				t.Errorf("given %q, want %q", got, tc.want)
			}
		})
	}
}

// TestModelOfCutRecord: of a record that was cut anywhere no answer is given
// that lacks calls.
func TestModelOfCutRecord(t *testing.T) {
	then, _, _ := work(t, &list{[]model.Response{asks("I make it.", `{"a":1}`, `{"a":2}`), asks("More.", `{"b":1}`), says("Done.")}}, "w", "go", plain)
	data, err := os.ReadFile(eventsFile(then))
	if err != nil {
		t.Fatal(err)
	}
	calls := []int{2, 1, 0}
	for n := range len(data) {
		m, err := replay.NewModel("ID", trajectory.NewReader(strings.NewReader(string(data[:n]))))
		if err != nil {
			continue // not one answer is whole
		}
		for i := range calls {
			resp, err := m.Generate(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Text: "go"}}}, nil)
			if err != nil {
				if !strings.Contains(err.Error(), "the record was cut off") {
					t.Fatalf("cut at %d: %v", n, err)
				}
				break
			}
			if len(resp.Calls) != calls[i] {
				t.Fatalf("cut at %d of %d: answer %d has %d calls", n, len(data), i+1, len(resp.Calls))
			}
			if i == 2 && !strings.Contains(string(data[:n]), `"type":"end"`) {
				t.Fatalf("cut at %d: all was given", n)
			}
		}
	}
}

// TestModelPassing: what is another one each time is no difference, and what the
// server kept back is one.
func TestModelPassing(t *testing.T) {
	const news = "\n[job1 (x) has ended: exit code 0]"
	for _, tc := range []struct {
		name string
		then trajectory.Body
		now  string
		told bool
	}{
		{"a text", result("1", "a"), "b", true},
		{"ids of processes", result("1", "pid 1", func(r *trajectory.ToolResult) { r.Lasting = "x" }), "pid 2", false},
		{"a job that runs", result("1", "for 1.0 s", func(r *trajectory.ToolResult) { r.Status = "running" }), "for 1.1 s", false},
		{"a job's output", result("1", "a", func(r *trajectory.ToolResult) { r.Name = "bash_output" }), "b", false},
		{"news of a job", result("1", "a"+news), "a", false},
		{"news of a job elsewhere", result("1", "a", func(r *trajectory.ToolResult) { r.Name = "read_file" }), "a" + news, true},
		{"an answer that was kept back", trajectory.Notice{Kind: trajectory.NoticeBadCall, Text: "bad"}, "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bodies := []trajectory.Body{trajectory.Message{Role: "user", Text: "go"}, trajectory.Message{Role: "assistant"}}
			request := []model.Message{{Role: model.User, Text: "go"}, {Role: model.Assistant}}
			if _, is := tc.then.(trajectory.ToolResult); is {
				bodies = append(bodies, call("1", "bash"))
				request = append(request, model.Message{Role: model.Tool, CallID: "1", Parts: []model.Part{{Text: tc.now}}})
			}
			bodies = append(bodies, tc.then, trajectory.Message{Role: "assistant", Text: "Done."}, trajectory.End{})
			m, err := replay.NewModel("ID", reader(t, recorded(t, bodies...)))
			if err != nil {
				t.Fatal(err)
			}
			told := false
			m.Watch(func(s string) string { return s }, func(string) error { told = true; return nil })
			for _, messages := range [][]model.Message{request[:1], request} {
				if _, err := m.Generate(t.Context(), model.Request{Messages: messages}, nil); err != nil {
					t.Fatal(err)
				}
			}
			if told != tc.told {
				t.Errorf("told is %v", told)
			}
		})
	}
}
