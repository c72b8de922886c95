package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/openai"
	"github.com/belljar/belljar/agent/model/script"
	"github.com/belljar/belljar/tools"
	"github.com/google/jsonschema-go/jsonschema"
)

// oddTools give results of all kinds.
func oddTools(t *testing.T) *tools.Registry {
	t.Helper()
	results := map[string]func(args string) (tools.Result, error){
		"read":  func(args string) (tools.Result, error) { return tools.Text("read " + args), nil },
		"write": func(string) (tools.Result, error) { return tools.Result{Status: "exited", ExitCode: new(0)}, nil },
		"grep":  func(string) (tools.Result, error) { return tools.Text(" \n\x00\x1b[1m\xff"), nil },
		"list":  func(string) (tools.Result, error) { return tools.Error("no"), nil },
		"look": func(string) (tools.Result, error) {
			return tools.Result{Parts: []tools.Part{{Text: "a picture"}, {MediaType: "image/png", Data: []byte("png")}}}, nil
		},
	}
	registry := &tools.Registry{}
	for name, result := range results {
		if err := registry.Register(oddTool{name, result}); err != nil {
			t.Fatal(err)
		}
	}
	return registry
}

type oddTool struct {
	name   string
	result func(args string) (tools.Result, error)
}

func (o oddTool) Definition() tools.Definition {
	fields := map[string]*jsonschema.Schema{}
	for _, name := range []string{"path", "pattern", "text"} {
		fields[name] = &jsonschema.Schema{Type: "string"}
	}
	effect := tools.Read
	if o.name == "write" {
		effect = tools.Write
	}
	return tools.Definition{Name: o.name, Description: "A tool.", Effect: effect, Schema: &jsonschema.Schema{Type: "object", Properties: fields}}
}

func (o oddTool) Execute(_ context.Context, args json.RawMessage) (tools.Result, error) {
	return o.result(string(args))
}

// scripted is a model of a script, with all that a script can say.
func scripted(t *testing.T) model.Model {
	t.Helper()
	m, err := script.New("odd", []byte(`
turns:
  - text: "I look\x07 around.\r\n"
    tool_calls:
      - {name: read, arguments: {path: a}}
      - {name: write, arguments: {path: b}}
      - {name: look, arguments: {}}
  - tool_calls:
      - {name: read, arguments: '{"path":"a'}
      - {name: nobody, arguments: {}}
      - {name: list, arguments: {depth: 1}}
  - text: " \n"
  - tool_calls: [{name: grep, arguments: {pattern: x}}]
  - tool_calls: [{name: grep, arguments: {pattern: x}}]
  - tool_calls: [{name: grep, arguments: {pattern: x}}]
  - tool_calls: [{name: list, arguments: {path: é}}]
  - text: Done.
`))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// An oddAnswer is what a server answers a request with.
type oddAnswer struct {
	status int
	body   string
	broken bool // the connection breaks after it
}

// The last answer of a run.
func lastAnswer() oddAnswer { return oddAnswer{200, events(content("Done."), finish("stop")), false} }

// corpusStreams are the streams of the corpus that have calls.
func corpusStreams(t *testing.T) []oddAnswer {
	t.Helper()
	var all []oddAnswer
	for _, r := range corpus(t) {
		if strings.Contains("\n"+r.want, "\ncall ") {
			all = append(all, oddAnswer{200, r.stream, false})
		}
	}
	return all
}

// oddStreams are what else happens to a run that it can go on from.
func oddStreams() []oddAnswer {
	same := oddAnswer{200, events(calls(`{"id":"call_0","function":{"name":"read","arguments":"{\"path\":\"same\"}"}}`), finish("tool_calls")), false}
	return []oddAnswer{
		{400, `{"error":{"message":"Unrecognized request argument supplied: stream_options","param":"stream_options"}}`, false},
		{200, events(content("I look."), calls(
			`{"index":0,"id":"call_0","function":{"name":"read","arguments":"{}"},"extra_content":{"sig":"x"}}`,
			`{"index":1,"id":"call_0","function":{"name":"write","arguments":"{}"}}`,
			`{"index":2,"id":"","function":{"name":"look","arguments":"{}"}}`), finish("tool_calls")), false},
		{200, events(`{"choices":[{"index":0,"delta":{"reasoning":"hm","reasoning_details":[{"type":"t","data":"x","index":0}]}}]}`,
			calls(`{"index":0,"id":"tool é 1","function":{"name":"my tool!","arguments":"{\"a"}}`), finish("tool_calls")), false},
		{200, stream(content("Half an ans")), true},
		{503, `{"error":{"message":"overloaded"}}`, false},
		{200, events(calls(`{"index":0,"id":"w","function":{"name":"write","arguments":"{\"text\":\"ha"}}`), finish("length")), false},
		{200, events(content("The beginning, "), finish("length")), false},
		{200, events(`{"choices":[{"index":0,"delta":{"reasoning_content":"only thought"}}]}`, finish("stop")), false},
		same, same, same,
		{200, events(calls(`{"id":"g","function":{"name":"grep","arguments":"{}"}}`, `{"id":"h","function":{"name":"list","arguments":""}}`), finish("tool_calls")), false},
		lastAnswer(),
	}
}

// foreign has other further fields in the answers, as a server elsewhere.
func foreign(answers []oddAnswer) []oddAnswer {
	var out []oddAnswer
	for _, a := range answers {
		a.body = strings.NewReplacer(`"sig":"x"`, `"sig":"y"`, `"data":"x"`, `"data":"y"`).Replace(a.body)
		out = append(out, a)
	}
	return out
}

// oddServer is a client of a server that gives one answer after another.
func oddServer(t *testing.T, address string, answers []oddAnswer) model.Model {
	t.Helper()
	next := 0
	c, err := openai.New(openai.Options{BaseURL: address, Model: "m", HTTPClient: &http.Client{
		Transport: transport(func(r *http.Request) (*http.Response, error) {
			if next == len(answers) {
				return nil, errors.New("no answer is left")
			}
			a := answers[next]
			next++
			var body io.Reader = strings.NewReader(a.body)
			if a.broken {
				body = io.MultiReader(body, iotest.ErrReader(errors.New("connection reset")))
			}
			return &http.Response{
				StatusCode: a.status, Status: fmt.Sprint(a.status), Request: r, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(body),
			}, nil
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
