package script_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/script"
	"github.com/google/go-cmp/cmp"
)

const demo = `turns:
  - text: I'll create the file, then run it.
    tool_calls:
      - {name: write_file, arguments: {path: hello.py, content: "print('<Hello> & \"all\"')\n"}}
      - name: bash
        arguments: {command: "python3 hello.py", timeout_seconds: 2.5, list: [1, true, null, {b: 1, a: 2}], 7: x}
  - tool_calls:
      - {name: list}
      - {name: bad, arguments: '{"a":'}
  - text: It prints the greeting.
`

func TestAnswers(t *testing.T) {
	m, err := script.New("demo.yaml", []byte(demo))
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Response{
		{
			Text: "I'll create the file, then run it.", Finish: model.FinishToolCalls,
			Calls: []model.ToolCall{
				{ID: "call00001", Name: "write_file", Arguments: `{"path":"hello.py","content":"print('<Hello> & \"all\"')\n"}`},
				{ID: "call00002", Name: "bash", Arguments: `{"command":"python3 hello.py","timeout_seconds":2.5,"list":[1,true,null,{"b":1,"a":2}],"7":"x"}`},
			},
		},
		{Finish: model.FinishToolCalls, Calls: []model.ToolCall{
			{ID: "call00003", Name: "list", Arguments: "{}"}, {ID: "call00004", Name: "bad", Arguments: `{"a":`},
		}},
		{Text: "It prints the greeting.", Finish: model.FinishStop},
	}
	req := model.Request{Messages: []model.Message{{Role: model.User, Text: "go"}}}
	for i, want := range want {
		pieces := []string{}
		got, err := m.Generate(t.Context(), req, func(s string) { pieces = append(pieces, s) })
		if err != nil {
			t.Fatal(err)
		}
		if !got.Usage.Estimated || got.Usage.Input == 0 || got.Usage.Output == 0 {
			t.Errorf("turn %d: usage %+v", i+1, got.Usage)
		}
		got.Usage = model.Usage{}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("turn %d (-want +got):\n%s", i+1, diff)
		}
		if strings.Join(pieces, "") != want.Text || want.Text != "" && len(pieces) < 2 {
			t.Errorf("turn %d: onText got %q", i+1, pieces)
		}
		req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: got.Text, Calls: got.Calls})
	}
	_, err = m.Generate(t.Context(), req, nil)
	if model.KindOf(err) != model.Permanent || !strings.Contains(err.Error(), "has 3 turns") {
		t.Errorf("past the end: %v", err)
	}
	if m.Name() != "script:demo.yaml" {
		t.Errorf("name %q", m.Name())
	}
}

func TestCanceledTakesNoTurn(t *testing.T) {
	m, err := script.New("s", []byte("turns: [{text: a}]"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Generate(ctx, model.Request{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if resp, err := m.Generate(t.Context(), model.Request{}, nil); err != nil || resp.Text != "a" {
		t.Errorf("answer %q and error %v", resp.Text, err)
	}
	if _, err := m.Generate(t.Context(), model.Request{}, nil); err == nil || !strings.Contains(err.Error(), "has 1 turn and") {
		t.Errorf("past the only turn: %v", err)
	}
}

func TestWrongScripts(t *testing.T) {
	tests := map[string]struct{ data, says string }{
		"unknown key at the top": {"turns: [{text: a}]\nturn: 1\n", "s.yaml:2: unknown field \"turn\""},
		"unknown key in a turn":  {"turns:\n  - text: a\n  - txt: b\n", "s.yaml:3: unknown field \"txt\""},
		"unknown key in a call":  {"turns:\n  - tool_calls:\n      - name: a\n        args: {}\n", "s.yaml:4: unknown field \"args\""},
		"key twice":              {"turns:\n  - text: a\n    text: b\n", "s.yaml:3:"},
		"not YAML":               {"turns: [\n", "s.yaml:1:"},
		"wrong type":             {"turns: 3\n", "s.yaml:1:"},
		"a list":                 {"- text: a\n", "a script is a list `turns:` of {text, tool_calls}"},
		"another file":           {"# A title\n\nsome words\n", "a script is a list `turns:` of {text, tool_calls}"},
		"empty":                  {"", "s.yaml: it has no turns; a script is a list `turns:` of {text, tool_calls}"},
		"no turns":               {"turns: []\n", "s.yaml: it has no turns"},
		"empty turn":             {"turns: [{text: a, tool_calls: [{name: b}]}, {}]", "s.yaml: turn 2: it has neither text nor tool_calls"},
		"no name":                {"turns: [{tool_calls: [{arguments: {}}]}]", "s.yaml: turn 1, call 1: it has no name"},
		"arguments are a list":   {"turns: [{tool_calls: [{name: a, arguments: [1]}]}]", "neither a map nor a text"},
		"arguments are not JSON": {"turns: [{tool_calls: [{name: a, arguments: {x: .inf}}]}]", "as JSON"},
		"more than one document": {"turns: [{text: a}]\n---\nturns: []\n", "more than one document"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := script.New("s.yaml", []byte(test.data))
			if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, test.says)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(path, []byte(demo), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := script.Load(path)
	if err != nil || m.Name() != "script:"+path {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := script.Load(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// FuzzParse: a script is answers or an error, and never a panic; arguments of
// a map are JSON.
func FuzzParse(f *testing.F) {
	f.Add([]byte(demo))
	f.Add([]byte("turns: [{tool_calls: [{name: a, arguments: {x: .inf, 2: {? {a: b} : c}}}]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := script.New("s", data)
		if err != nil {
			return
		}
		if _, err := m.Generate(t.Context(), model.Request{}, nil); err != nil {
			t.Fatal(err)
		}
	})
}
