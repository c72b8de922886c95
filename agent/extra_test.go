package agent_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/openai"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/google/go-cmp/cmp"
)

// TestFurtherFieldsAreRecorded: what a server wants back is on record as it
// came, and a conversation that is made anew from the record sends the same.
func TestFurtherFieldsAreRecorded(t *testing.T) {
	const signed = `{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"x<y&z","index":0}],"tool_calls":[` +
		`{"index":0,"id":"x","function":{"name":"look","arguments":"{}"},"extra_content":{"google":{"thought_signature":"A+/=="}},"n":9007199254740993},` +
		`{"index":1,"id":"y","function":{"name":"look","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`
	long := strings.Replace(signed, "A+/==", strings.Repeat("A", 1<<20), 1)
	for name, test := range map[string]struct {
		answer   string
		recorded bool
	}{"as it came": {signed, true}, "too long to record": {long, false}} {
		t.Run(name, func(t *testing.T) {
			whole := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "data: "+test.answer+"\n\n") }
			s := newServer(t, whole, streaming(serverText))
			session, err := trajectory.Create(t.TempDir(), trajectory.Manifest{})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			a := serverAgent(t, s, session.Writer(), func(*agent.Options) {})
			if _, err := a.Run(t.Context(), "go"); err != nil {
				t.Fatal(err)
			}
			calls := recordedCalls(t, session)
			if len(calls) != 2 || (calls[0].Extra != "") != test.recorded || calls[0].Origin != s.URL+"/v1" || calls[1].Origin != "" || calls[1].Extra != "" {
				t.Fatalf("calls on record %.300q", calls)
			}
			if !test.recorded {
				return
			}
			again := []model.Message{
				{Role: model.User, Text: "go"}, {Role: model.Assistant, Calls: calls},
				{Role: model.Tool, CallID: "x", Parts: []model.Part{{Text: "look {}"}}}, {Role: model.Tool, CallID: "y", Parts: []model.Part{{Text: "look {}"}}},
			}
			client, err := openai.New(openai.Options{Model: "m", BaseURL: s.URL + "/v1"})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if _, err := client.Generate(t.Context(), model.Request{Messages: again}, nil); err != nil {
				t.Fatal(err)
			}
			asked := func(body string) string { // the message that asks for the tools
				var req struct{ Messages []json.RawMessage }
				if err := json.Unmarshal([]byte(body), &req); err != nil || len(req.Messages) < 2 {
					t.Fatalf("request %s", body)
				}
				return string(req.Messages[1])
			}
			want := asked(s.bodies[1])
			if diff := cmp.Diff(want, asked(s.bodies[2])); diff != "" {
				t.Errorf("the message made anew (-want +got):\n%s", diff)
			}
			for _, field := range []string{`"thought_signature":"A+/=="`, `"n":9007199254740993`, `"reasoning_details":[{`} {
				if !strings.Contains(want, field) {
					t.Errorf("%s was not sent back: %s", field, want)
				}
			}
		})
	}
}

// recordedCalls are the calls in a session's file.
func recordedCalls(t *testing.T, session *trajectory.Session) []model.ToolCall {
	t.Helper()
	events, err := session.Events()
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	var calls []model.ToolCall
	for event, err := range trajectory.NewReader(events).All() {
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := event.Body.(trajectory.ToolCall); ok {
			calls = append(calls, model.ToolCall{ID: c.CallID, Name: c.Name, Arguments: c.Arguments, Extra: c.Extra, Origin: c.Origin})
		}
	}
	return calls
}
