package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/openai"
	"github.com/google/go-cmp/cmp"
)

const testKey = "sk-canary-0123456789abcdef"

// newClient returns a client of a server that answers with handler.
func newClient(t *testing.T, handler http.HandlerFunc, change ...func(*openai.Options)) *openai.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	o := openai.Options{BaseURL: server.URL + "/v1", APIKey: testKey, Model: "test-model"}
	for _, f := range change {
		f(&o)
	}
	c, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// bytewise sends the body in pieces of one byte.
func bytewise(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range len(body) {
		if _, err := io.WriteString(w, body[i:i+1]); err != nil {
			return
		}
		w.(http.Flusher).Flush()
	}
}

// events is a stream of the given data, with the end marker.
func events(data ...string) string { return stream(append(data, "[DONE]")...) }

// stream is a stream of the given data.
func stream(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}

func content(text string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q}}]}`, text)
}

// calls is an event with pieces of tool calls.
func calls(pieces ...string) string {
	return `{"choices":[{"index":0,"delta":{"tool_calls":[` + strings.Join(pieces, ",") + `]},"finish_reason":null}]}`
}

func finish(reason string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, reason)
}

const counted = `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4}}}`

func call(id, name, args string) model.ToolCall {
	return model.ToolCall{ID: id, Name: name, Arguments: args}
}

var hello = model.Request{Messages: []model.Message{{Role: model.User, Text: "hello"}}}

func TestStreamShapes(t *testing.T) {
	tests := map[string]struct {
		body   string
		text   string
		calls  []model.ToolCall
		finish model.Finish
		kind   model.Kind // of the error
		says   string     // part of the error
	}{
		"text": {body: events(content("Hel"), content("lo"), finish("stop"), counted), text: "Hello", finish: model.FinishStop},
		"character over two events": {
			body: events(content("grü"), content("ß"), finish("stop")), text: "grüß", finish: model.FinishStop,
		},
		"one call in pieces": {
			body: events(
				calls(`{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}`),
				calls(`{"index":0,"function":{"arguments":"{\"path\""}}`), calls(`{"index":0,"function":{"arguments":":\"x\"}"}}`),
				finish("tool_calls")),
			calls: []model.ToolCall{call("a", "read", `{"path":"x"}`)}, finish: model.FinishToolCalls,
		},
		"two calls in turn": {
			body: events(
				calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"n\":"}}`),
				calls(`{"index":1,"id":"b","function":{"name":"list","arguments":"{"}}`),
				calls(`{"index":0,"function":{"arguments":"1}"}}`), calls(`{"index":1,"function":{"arguments":"}"}}`),
				finish("tool_calls")),
			calls: []model.ToolCall{call("a", "read", `{"n":1}`), call("b", "list", `{}`)}, finish: model.FinishToolCalls,
		},
		"no index": {
			body: events(
				calls(`{"id":"a","function":{"name":"read","arguments":"{\"n\":"}}`), calls(`{"function":{"arguments":"1}"}}`),
				calls(`{"id":"b","function":{"name":"read","arguments":"{\"n\":2}"}}`), finish("tool_calls")),
			calls: []model.ToolCall{call("a", "read", `{"n":1}`), call("b", "read", `{"n":2}`)}, finish: model.FinishToolCalls,
		},
		"one index for all": {
			body: events(
				calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"n\":1}"}}`),
				calls(`{"index":0,"id":"b","function":{"name":"read","arguments":"{\"n\":"}}`),
				calls(`{"index":0,"function":{"arguments":"2}"}}`), finish("tool_calls")),
			calls: []model.ToolCall{call("a", "read", `{"n":1}`), call("b", "read", `{"n":2}`)}, finish: model.FinishToolCalls,
		},
		"one index for all, known id wins": {
			body: events(
				calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"n\":"}}`),
				calls(`{"index":0,"id":"b","function":{"name":"read","arguments":"{\"n\":"}}`),
				calls(`{"index":0,"id":"a","function":{"arguments":"1}"}}`), calls(`{"index":0,"id":"b","function":{"arguments":"2}"}}`),
				finish("tool_calls")),
			calls: []model.ToolCall{call("a", "read", `{"n":1}`), call("b", "read", `{"n":2}`)}, finish: model.FinishToolCalls,
		},
		"index begins at 1": {
			body:  events(calls(`{"index":1,"id":"a","function":{"name":"read","arguments":"{}"}}`), finish("tool_calls")),
			calls: []model.ToolCall{call("a", "read", `{}`)}, finish: model.FinishToolCalls,
		},
		"index comes late": {
			body: events(
				calls(`{"id":"a","function":{"name":"read","arguments":""}}`), calls(`{"index":0,"function":{"arguments":"{}"}}`),
				calls(`{"id":"b","function":{"name":"read","arguments":""}}`), calls(`{"index":1,"function":{"arguments":"{}"}}`),
				finish("tool_calls")),
			calls: []model.ToolCall{call("a", "read", `{}`), call("b", "read", `{}`)}, finish: model.FinishToolCalls,
		},
		"no id": {
			body:  events(calls(`{"index":0,"function":{"name":"read","arguments":"{}"}}`), finish("tool_calls")),
			calls: []model.ToolCall{call("call00001", "read", `{}`)}, finish: model.FinishToolCalls,
		},
		"no id, one index for all": {
			body: events(
				calls(`{"index":0,"function":{"name":"read","arguments":"{\"n\":1}"}}`),
				calls(`{"index":0,"function":{"name":"read","arguments":"{\"n\":2}"}}`), finish("tool_calls")),
			calls:  []model.ToolCall{call("call00001", "read", `{"n":1}`), call("call00002", "read", `{"n":2}`)},
			finish: model.FinishToolCalls,
		},
		"no id, no index, all in one event": {
			body: events(
				calls(`{"function":{"name":"list"}}`, `{"function":{"name":"list"}}`, `{"function":{"name":"read","arguments":"{}"}}`), finish("stop")),
			calls:  []model.ToolCall{call("call00001", "list", ""), call("call00002", "list", ""), call("call00003", "read", "{}")},
			finish: model.FinishToolCalls,
		},
		"no id, no index, one after another": {
			body: events(
				calls(`{"function":{"name":"list"}}`), calls(`{"function":{"name":"read","arguments":"{"}}`),
				calls(`{"function":{"arguments":"}"}}`), calls(`{"function":{"name":"read","arguments":"{}"}}`), finish("stop")),
			calls:  []model.ToolCall{call("call00001", "list", ""), call("call00002", "read", "{}"), call("call00003", "read", "{}")},
			finish: model.FinishToolCalls,
		},
		"one id for all": {
			body: events(
				calls(`{"index":0,"id":"x","function":{"name":"read","arguments":"{\"n\":1}"}}`,
					`{"index":1,"id":"x","function":{"name":"read","arguments":"{\"n\":2}"}}`), finish("tool_calls")),
			calls: []model.ToolCall{call("x", "read", `{"n":1}`), call("call00001", "read", `{"n":2}`)}, finish: model.FinishToolCalls,
		},
		"id after the name": {
			body: events(
				calls(`{"index":0,"function":{"name":"read"}}`), calls(`{"index":0,"id":"a","function":{"arguments":"{}"}}`),
				finish("tool_calls")),
			calls: []model.ToolCall{call("a", "read", `{}`)}, finish: model.FinishToolCalls,
		},
		"name after the arguments": {
			body: events(
				calls(`{"index":0,"id":"a","function":{"arguments":"{}"}}`), calls(`{"index":0,"function":{"name":"read"}}`),
				finish("tool_calls")),
			calls: []model.ToolCall{call("a", "read", `{}`)}, finish: model.FinishToolCalls,
		},
		"name in pieces": {
			body: events(
				calls(`{"index":0,"id":"a","function":{"name":"read_"}}`), calls(`{"index":0,"function":{"name":"file"}}`),
				calls(`{"index":0,"function":{"arguments":"{}"}}`), finish("tool_calls")),
			calls: []model.ToolCall{call("a", "read_file", `{}`)}, finish: model.FinishToolCalls,
		},
		"name with every piece": {
			body: events(
				calls(`{"index":0,"id":"a","function":{"name":"read","arguments":""}}`),
				calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"n\":"}}`),
				calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"1}"}}`), finish("tool_calls")),
			calls: []model.ToolCall{call("a", "read", `{"n":1}`)}, finish: model.FinishToolCalls,
		},
		"null everywhere": {
			body: events(
				`{"error":null,"usage":null,"choices":[{"index":0,"delta":{"content":null,"tool_calls":null,"refusal":null},"finish_reason":null}]}`,
				calls(`{"index":null,"id":null,"type":null,"function":{"name":"read","arguments":null}}`), finish("tool_calls")),
			calls: []model.ToolCall{call("call00001", "read", "")}, finish: model.FinishToolCalls,
		},
		"arguments as an object": {
			body:  events(calls(`{"index":0,"id":"a","function":{"name":"read","arguments":{"n": 1}}}`), finish("tool_calls")),
			calls: []model.ToolCall{call("a", "read", `{"n":1}`)}, finish: model.FinishToolCalls,
		},
		"malformed arguments are kept": {
			body:  events(calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"a\":1}{\"b\":2}"}}`), finish("tool_calls")),
			calls: []model.ToolCall{call("a", "read", `{"a":1}{"b":2}`)}, finish: model.FinishToolCalls,
		},
		"further fields are kept": {
			body: events(
				calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{}"},"extra_content":{"google":{"sig":"x"}},"none":null}`),
				finish("tool_calls")),
			calls: []model.ToolCall{{
				ID: "a", Name: "read", Arguments: "{}", Extra: `{"extra_content":{"google":{"sig":"x"}}}`,
			}},
			finish: model.FinishToolCalls,
		},
		"content in parts": {
			body: events(`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"hi"}]}}]}`, finish("stop")),
			text: "hi", finish: model.FinishStop,
		},
		"second choice is left out": {
			body: events(content("a"), `{"choices":[{"index":1,"delta":{"content":"b"}}]}`, finish("stop")), text: "a", finish: model.FinishStop,
		},
		"calls with stop":    {body: events(calls(`{"index":0,"id":"a","function":{"name":"read"}}`), finish("stop")), calls: []model.ToolCall{call("a", "read", "")}, finish: model.FinishToolCalls},
		"reason in capitals": {body: events(content("a"), finish("STOP")), text: "a", finish: model.FinishStop},
		"comments and other fields": {
			body: ": ping\n\n:\nevent: message\nid: 1\nretry: 10\ndata: " + content("a") + "\n\n\n\n: x\ndata:" + finish("stop") + "\n\ndata: [DONE]\n\n",
			text: "a", finish: model.FinishStop,
		},
		"CRLF":                     {body: strings.ReplaceAll(events(content("a"), finish("stop")), "\n", "\r\n"), text: "a", finish: model.FinishStop},
		"CR":                       {body: strings.ReplaceAll(events(content("a"), finish("stop")), "\n", "\r"), text: "a", finish: model.FinishStop},
		"byte order mark":          {body: "\ufeff" + events(content("a"), finish("stop")), text: "a", finish: model.FinishStop},
		"data on two lines":        {body: "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"a\"}}]}\n\n" + events(finish("stop")), text: "a", finish: model.FinishStop},
		"empty choices":            {body: events(`{"choices":[]}`, content("a"), `{}`, finish("stop")), text: "a", finish: model.FinishStop},
		"bare end marker":          {body: stream(content("a"), finish("stop")) + "[DONE]\n", text: "a", finish: model.FinishStop},
		"bare chunk":               {body: stream(content("a")) + content("b") + "\n" + events(finish("stop")), text: "ab", finish: model.FinishStop},
		"bare line in an event":    {body: "data: " + content("a") + "\n" + content("b") + "\n" + events(finish("stop")), text: "ab", finish: model.FinishStop},
		"error without a word":     {body: events(`{"error":{"message":"","code":0},"choices":[{"delta":{"content":"a"}}]}`, finish("stop")), text: "a", finish: model.FinishStop},
		"success without a choice": {body: events(`{"code":0,"message":"Success"}`, content("a"), finish("stop")), text: "a", finish: model.FinishStop},
		"no end marker":            {body: stream(content("a"), finish("stop")), text: "a", finish: model.FinishStop},
		"no last blank line":       {body: strings.TrimRight(stream(content("a"), finish("stop")), "\n"), text: "a", finish: model.FinishStop},
		"no reason":                {body: events(content("a")), kind: model.Cut, says: "no reason"},
		"no reason, no arguments":  {body: events(calls(`{"index":0,"id":"a","function":{"name":"read"}}`)), kind: model.Cut, says: "inside the arguments"},
		"garbage after the reason": {body: stream(content("a"), finish("stop"), `{"choi`), text: "a", finish: model.FinishStop},
		"length":                   {body: events(content("a"), finish("length")), text: "a", finish: model.FinishLength},
		"length in a call": {
			body:  events(calls(`{"index":0,"id":"a","function":{"name":"write","arguments":"{\"p\":\"x"}}`), finish("length")),
			calls: []model.ToolCall{call("a", "write", `{"p":"x`)}, finish: model.FinishLength,
		},
		"nothing at all said": {body: events(finish("stop")), finish: model.FinishStop},
		"not streamed": {
			body: `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"a","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`,
			text: "a", calls: []model.ToolCall{call("a", "read", "{}")}, finish: model.FinishToolCalls,
		},
		"one document a line": {body: content("a") + "\n" + content("b") + "\n" + finish("stop") + "\n", text: "ab", finish: model.FinishStop},

		"cut after text":       {body: stream(content("a")), kind: model.Cut},
		"cut inside an event":  {body: stream(content("a")) + `data: {"choices":[{"del`, kind: model.Cut},
		"cut inside arguments": {body: stream(calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"n\":1}"}}`)), kind: model.Cut},
		"nothing":              {body: "", kind: model.Cut},
		"end marker only":      {body: events(), kind: model.Cut},
		"comments only":        {body: ": ping\n\n: ping\n\n", kind: model.Cut},
		"garbled":              {body: events(content("a"), `{"choices":`, finish("stop")), kind: model.Cut},
		"documents cut":        {body: content("a") + "\n" + `{"choi`, kind: model.Cut},
		"calls are missing":    {body: events(finish("tool_calls")), kind: model.Cut},
		"error object":         {body: events(content("a"), `{"error":{"message":"The server is overloaded","type":"overloaded_error"}}`), kind: model.Transient, says: "overloaded"},
		"error as a text":      {body: events(`{"error":"boom"}`), kind: model.Transient, says: "boom"},
		"error as words":       {body: "data: " + content("a") + "\n\nevent: error\ndata: boom goes it\n\ndata: [DONE]\n\n", kind: model.Transient, says: "boom goes it"},
		"error field of words": {body: "error: boom goes it\n\ndata: [DONE]\n\n", kind: model.Transient, says: "boom goes it"},
		"error event":          {body: "event: error\ndata: {\"message\":\"boom\",\"code\":503}\n\n", kind: model.Transient, says: "boom"},
		"error with a code":    {body: events(`{"error":{"message":"slow down","code":429}}`), kind: model.RateLimited, says: "slow down"},
		"error with a reason":  {body: events(`{"error":{"message":"boom","code":502},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`), kind: model.Transient, says: "boom"},
		"error object alone":   {body: `{"object":"error","message":"prompt is too long: 9 tokens","code":400}`, kind: model.Context},
		"error document":       {body: `{"error":{"message":"bad key","code":401}}`, kind: model.Auth},
		"overflow in a stream": {body: events(`{"error":{"message":"This model's maximum context length is 4096 tokens","code":"context_length_exceeded"}}`), kind: model.Context},
		"content filter":       {body: events(finish("content_filter")), kind: model.Filtered},
		"refusal":              {body: events(`{"choices":[{"delta":{"refusal":"I can't "}}]}`, `{"choices":[{"delta":{"refusal":"do that"}}]}`, finish("stop")), kind: model.Filtered, says: "I can't do that"},
		"unknown reason":       {body: events(content("a"), finish("tired")), kind: model.Permanent, says: "tired"},
		"error reason":         {body: events(content("a"), finish("error")), kind: model.Transient},
		"web page":             {body: "<!doctype html><html>login</html>", kind: model.Permanent, says: "/v1"},
		"too many calls": {
			body: strings.Repeat(stream(calls(`{"function":{"name":"a","arguments":"{}"}}`)), 300), kind: model.Permanent, says: "256",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, func(w http.ResponseWriter, r *http.Request) { bytewise(w, test.body) })
			var said strings.Builder
			resp, err := c.Generate(t.Context(), hello, func(s string) { said.WriteString(s) })
			if test.kind != "" {
				if model.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.says) {
					t.Fatalf("error %v of kind %q, want %q with %q", err, model.KindOf(err), test.kind, test.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range resp.Calls {
				resp.Calls[i].Origin = "" // the test server's address
			}
			got := model.Response{Text: resp.Text, Calls: resp.Calls, Finish: resp.Finish}
			want := model.Response{Text: test.text, Calls: test.calls, Finish: test.finish}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if said.String() != test.text {
				t.Errorf("onText got %q, want %q", said.String(), test.text)
			}
		})
	}
}

func TestUsageAndReasoning(t *testing.T) {
	const both = `{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}`
	tests := map[string]struct {
		body      string
		usage     model.Usage
		reasoning string
	}{
		"counted":      {body: events(content("a"), finish("stop"), counted), usage: model.Usage{Input: 10, Output: 5, Cached: 4}},
		"not counted":  {body: events(content("four"), finish("stop")), usage: model.Usage{Input: 2, Output: 1, Estimated: true}},
		"zeros":        {body: events(content("four"), finish("stop"), `{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}`), usage: model.Usage{Input: 2, Output: 1, Estimated: true}},
		"with a chunk": {body: events(`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, finish("stop"), counted), usage: model.Usage{Input: 10, Output: 5, Cached: 4}},
		"reasoning":    {body: events(both, content("a"), finish("stop"), counted), usage: model.Usage{Input: 10, Output: 5, Cached: 4}, reasoning: "hm"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, func(w http.ResponseWriter, r *http.Request) { bytewise(w, test.body) })
			resp, err := c.Generate(t.Context(), hello, nil)
			if err != nil {
				t.Fatal(err)
			}
			if resp.Usage != test.usage || resp.Reasoning != test.reasoning {
				t.Errorf("usage %+v and reasoning %q, want %+v and %q", resp.Usage, resp.Reasoning, test.usage, test.reasoning)
			}
		})
	}
}

// TestMadeUpIDsAreNew: a server that numbers its calls anew in every answer
// must not give two calls of a conversation one id.
func TestMadeUpIDsAreNew(t *testing.T) {
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		bytewise(w, events(calls(`{"index":0,"id":"call_0","function":{"name":"read","arguments":"{}"}}`), finish("tool_calls")))
	})
	req := model.Request{Messages: []model.Message{
		{Role: model.User, Text: "x"},
		{Role: model.Assistant, Calls: []model.ToolCall{call("call_0", "read", "{}")}},
		{Role: model.Tool, CallID: "call_0", Parts: []model.Part{{Text: "y"}}},
	}}
	resp, err := c.Generate(t.Context(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]model.ToolCall{call("call00002", "read", "{}")}, resp.Calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// FuzzStream: whatever a server sends, there is an answer with well-formed
// calls or an error with a kind.
func FuzzStream(f *testing.F) {
	f.Add(events(content("a"), finish("stop"), counted))
	f.Add(events(calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}`), finish("tool_calls")))
	f.Add(": x\r\ndata: {}\r\n\r\n")
	f.Add(`{"choices":[{"message":{"content":"a"}}]}`)
	f.Add(events(`{"error":{"message":"x","code":400}}`))
	f.Fuzz(func(t *testing.T, body string) {
		c, err := openai.New(openai.Options{
			BaseURL: "http://host/v1", Model: "m", HTTPClient: &http.Client{Transport: answering(body)},
		})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Generate(context.Background(), hello, nil)
		if err != nil {
			if model.KindOf(err) == "" {
				t.Fatalf("an error without a kind: %v", err)
			}
			return
		}
		ids := map[string]bool{}
		for _, call := range resp.Calls {
			if call.ID == "" || ids[call.ID] {
				t.Fatalf("the id %q is empty or taken", call.ID)
			}
			ids[call.ID] = true
		}
		if resp.Finish == model.FinishToolCalls && len(resp.Calls) == 0 {
			t.Fatal("asks for tools without calls")
		}
	})
}

// answering is a transport that answers every request with the same body.
type answering string

func (a answering) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Request: req, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}
