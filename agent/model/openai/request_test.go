package openai_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/belljar/belljar/agent/model"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func user(text string) model.Message { return model.Message{Role: model.User, Text: text} }

func assistant(text string, calls ...model.ToolCall) model.Message {
	return model.Message{Role: model.Assistant, Text: text, Calls: calls}
}

func result(id string, parts ...model.Part) model.Message {
	return model.Message{Role: model.Tool, CallID: id, Parts: parts}
}

func textPart(text string) model.Part { return model.Part{Text: text} }

// conversations are what the golden request bodies are made from.
func conversations() map[string]model.Request {
	png := model.Part{MediaType: "image/png", Data: []byte("png")}
	return map[string]model.Request{
		"plain": {System: "Be brief.", Messages: []model.Message{user("hello <&>")}},
		"tools": {
			Messages: []model.Message{user("hello")}, MaxTokens: 100,
			Tools: []model.ToolDefinition{
				{Name: "read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}}}`)},
				{Name: "list"},
			},
		},
		"calls": {Messages: []model.Message{
			user("go"),
			{Role: model.Assistant, Reasoning: "not sent", Calls: []model.ToolCall{
				call("a", "read", `{"n": 1}`), call("b", "list", " "), call("c", "list", "null"), call("d", "read", `{"n":`),
				call("e", "my tool!", `["x"]`), call("f", "", `"{}"`),
				{ID: "g", Name: "read", Arguments: "{}", Extra: `{"extra_content":{"sig":"x"}}`},
			}},
			result("a", textPart("one"), textPart("two")), result("b"), result("c", textPart("")), result("d", textPart("bad")),
			result("e", textPart("e")), result("f", textPart("f")), result("g", textPart("g")),
			assistant("done"),
		}},
		"images": {Messages: []model.Message{
			user("look"),
			assistant("", call("a", "view", "{}"), call("b", "view", "{}")),
			result("a", textPart("first"), png), result("b", png),
			assistant("again", call("c", "view", "{}")),
			result("c", png),
			user("what is it?"),
		}},
		"repaired": {Messages: []model.Message{
			user("one"), user("two"),
			result("lost", textPart("no call asked for this")),
			assistant(""),
			user("three"),
			assistant("", call("a", "read", "{}"), call("b", "read", "{}")),
			result("b", textPart("b")), user("in between"), result("b", textPart("again")),
			assistant("end"),
		}},
	}
}

func TestRequestBodies(t *testing.T) {
	for name, req := range conversations() {
		t.Run(name, func(t *testing.T) {
			var body []byte
			c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ = io.ReadAll(r.Body)
				bytewise(w, events(content("ok"), finish("stop")))
			})
			if _, err := c.Generate(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := json.Indent(&got, body, "", "  "); err != nil {
				t.Fatalf("the body is not JSON: %v", err)
			}
			got.WriteByte('\n')
			golden := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("request differs from %s (-want +got):\n%s", golden, diff)
			}
		})
	}
}
