package agent_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/tools"
)

// badAnswer answers with a status and a body.
func badAnswer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// TestBadCallIsTold: a call that the model's server could not read ends no run.
// The model is told what it wrote and what would be right.
func TestBadCallIsTold(t *testing.T) {
	const look = `The arguments of look must be one JSON object of this schema: {`
	groq := func(message, written string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","code":"tool_use_failed","failed_generation":%q}}`, message, written)
	}
	tests := map[string]struct {
		answer http.HandlerFunc
		says   []string
	}{
		"Groq": {badAnswer(400, groq("Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.", `<function=look{"n": 1}</function>`)),
			[]string{"The server says: Failed to call a function.", "\nYou wrote: <function=look{\"n\": 1}</function>\n", look, `"n":{"type":"integer"}`}},
		"Groq, in JSON": {badAnswer(400, groq("Failed to call a function.", `{"name": "look", "arguments": {"n": `)), []string{look}},
		"Groq, no such tool": {streaming(`{"error":{"message":"tool call validation failed: attempted to call tool 'find' which was not in request.tools","type":"invalid_request_error","code":"tool_use_failed","status_code":400}}`),
			[]string{`There is no tool "find". The tools are: look`}},
		"Groq, not by the schema": {badAnswer(400, groq("tool call validation failed: parameters for tool look did not match schema: errors: [missing properties: 'n']", "")),
			[]string{"missing properties: 'n'", look}},
		"Groq, very long": {badAnswer(400, groq("Failed to call a function.", `<function=look{"text":"`+strings.Repeat("x", 100_000))), []string{look, "xx\n[…]\nxx"}},
		"Ollama": {badAnswer(500, `{"error":{"message":"error parsing tool call: raw='{\"n\": 1,\n}', err=invalid character '}' looking for beginning of object key string","type":"api_error"}}`),
			[]string{"The server says: error parsing tool call: invalid character '}'", "\nYou wrote: {\"n\": 1,\n}\n", "The tools are: look"}},
		"Ollama, another way": {badAnswer(500, `{"error":"error parsing tool call: raw='{\"n\":' err=unexpected end of JSON input"}`),
			[]string{"The server says: error parsing tool call: unexpected end of JSON input\n", "You wrote: {\"n\":\n"}},
		"llama.cpp": {streaming(`{"error":{"code":500,"message":"Failed to parse input at pos 12: <tool_call>\n<function=look>\n</tool_call>","type":"server_error"}}`),
			[]string{"The server says: Failed to parse input at pos 12\n", "You wrote: <tool_call>\n<function=look>\n</tool_call>\n", look}},
		"Gemini": {streaming(`{"choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":"function_call_filter: MALFORMED_FUNCTION_CALL"}]}`, "[DONE]"),
			[]string{"malformed_function_call", "The tools are: look"}},
		"behind a router": {badAnswer(400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"Failed to call a function.\",\"code\":\"tool_use_failed\",\"failed_generation\":\"<function=look{}\"}}","provider_name":"Groq"}}}`),
			[]string{"You wrote: <function=look{}\n", look}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, test.answer, streaming(serverText, "[DONE]"))
			memory := &trajectory.Memory{}
			a := serverAgent(t, s, memory, func(o *agent.Options) { o.Tools = registry(t, echo("look", tools.Read)) })
			out, err := a.Run(t.Context(), "go")
			if err != nil || out.Stop != agent.StopFinished || out.Requests != 2 || out.Waits != 0 {
				t.Fatalf("%s after %d requests and %d waits, error %v", out.Stop, out.Requests, out.Waits, err)
			}
			told := notices(memory, trajectory.NoticeBadCall)
			if len(told) != 1 || len(told[0]) > 5000 {
				t.Fatalf("told %.6000q", told)
			}
			for _, part := range test.says {
				if !strings.Contains(told[0], part) {
					t.Errorf("%q is not in %q", part, told[0])
				}
			}
			if first, _, _ := strings.Cut(told[0], "\n"); !strings.Contains(s.bodies[1], first[:60]) {
				t.Errorf("the second request does not tell the model: %s", s.bodies[1])
			}
		})
	}
}

// TestBadCallsInARow: a model that cannot do better ends its run as stuck; one
// that can in between goes on.
func TestBadCallsInARow(t *testing.T) {
	bad := func(context.Context, model.Request) (model.Response, error) {
		return model.Response{}, &model.Error{Kind: model.BadCall, Message: "no such form", Call: model.RefusedCall{Problem: "no such form"}}
	}
	good := func(resp model.Response) func(context.Context, model.Request) (model.Response, error) {
		return func(context.Context, model.Request) (model.Response, error) { return resp, nil }
	}
	look := good(asks(call("look", `{"n":1}`)))
	tests := map[string]struct {
		turns    []func(context.Context, model.Request) (model.Response, error)
		stop     agent.Stop
		requests int
	}{
		"for ever":   {[]func(context.Context, model.Request) (model.Response, error){bad}, agent.StopStuck, 3},
		"in between": {[]func(context.Context, model.Request) (model.Response, error){bad, bad, look, bad, bad, good(says("Done."))}, agent.StopFinished, 6},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a, memory := newAgent(t, &scripted{turns: test.turns}, registry(t, echo("look", tools.Read)))
			out, err := a.Run(t.Context(), "go")
			if err != nil || out.Stop != test.stop || out.Requests != test.requests {
				t.Errorf("%s after %d requests, error %v; want %s after %d", out.Stop, out.Requests, err, test.stop, test.requests)
			}
			if test.stop != agent.StopStuck {
				return
			}
			if why := notices(memory, trajectory.NoticeStuck); len(why) != 1 || !strings.Contains(why[0], "no such form") {
				t.Errorf("stuck for %q", why)
			}
		})
	}
}
