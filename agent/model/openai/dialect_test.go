package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/openai"
	"github.com/belljar/belljar/agent/model/provider"
	"github.com/google/go-cmp/cmp"
)

// everything is a request with all that a server may refuse.
func everything() model.Request {
	return model.Request{System: "Be brief.", MaxTokens: 9,
		Tools: []model.ToolDefinition{{Name: "read"}},
		Messages: []model.Message{
			user("go"),
			{Role: model.Assistant, Reasoning: "hm", Calls: []model.ToolCall{call("functions.read:0", "read", "{}")}},
			result("functions.read:0", textPart("x")),
			user("and now?"),
			assistant("", call("b", "read", "{}"), call("c", "read", "{}")),
			result("b", textPart("y")), result("c", model.Part{MediaType: "image/png", Data: []byte("png")}),
		}}
}

// A body is a request as a server reads it.
type body map[string]any

// messages are those of the role.
func (b body) messages(role string) []body {
	var out []body
	list, _ := b["messages"].([]any)
	for _, m := range list {
		if m, ok := m.(map[string]any); ok && m["role"] == role {
			out = append(out, m)
		}
	}
	return out
}

// roles are the roles of the messages in order.
func (b body) roles() []string {
	var out []string
	list, _ := b["messages"].([]any)
	for _, m := range list {
		m, _ := m.(map[string]any)
		role, _ := m["role"].(string)
		out = append(out, role)
	}
	return out
}

// calls is the number of calls of a message.
func (b body) calls() int {
	list, _ := b["tool_calls"].([]any)
	return len(list)
}

func (b body) text() string {
	data, _ := json.Marshal(b)
	return string(data)
}

// A picky server refuses what it does not like and answers everything else.
type picky struct {
	refuses           func(body) bool
	status            int
	says              string
	mu                sync.Mutex
	requests, refused int
}

func (p *picky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var b body
	err := json.NewDecoder(r.Body).Decode(&b)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	if err != nil || p.refuses(b) {
		p.refused++
		w.WriteHeader(p.status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": p.says}})
		return
	}
	bytewise(w, events(content("ok"), finish("stop")))
}

// TestDialect: each refusal that names a part is met once, and remembered.
func TestDialect(t *testing.T) {
	silent := func(b body) any { return b.messages("assistant")[0]["content"] }
	tests := map[string]struct {
		provider string // the generic one by default
		refuses  func(body) bool
		status   int // 400 by default
		says     string
		change   string // what the caller is told
	}{
		"stream options": {refuses: func(b body) bool { return b["stream_options"] != nil }, status: 422, says: "Extra inputs are not permitted: body.stream_options",
			change: "token counts are not asked for"},
		"max tokens": {refuses: func(b body) bool { return b["max_tokens"] != nil }, says: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'",
			change: "an answer is bounded by max_completion_tokens"},
		"max tokens, other way": {provider: "openai", refuses: func(b body) bool { return b["max_completion_tokens"] != nil },
			says:   `{"loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted"}`,
			change: "an answer is bounded by max_tokens"},
		"reasoning wanted": {refuses: func(b body) bool { return b.messages("assistant")[0]["reasoning_content"] == nil },
			says:   "The `reasoning_content` in the thinking mode must be passed back to the API.",
			change: "what the model thought goes back to it as reasoning_content"},
		"reasoning wanted everywhere": {provider: "kimi", refuses: func(b body) bool { return b.messages("assistant")[1]["reasoning_content"] == nil },
			says:   "thinking is enabled but reasoning_content is missing in assistant tool call message at index 4",
			change: "what the model thought goes back to it as reasoning_content"},
		"reasoning not wanted": {provider: "deepseek", refuses: func(b body) bool { return b.messages("assistant")[0]["reasoning_content"] != nil },
			says:   "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
			change: "what the model thought does not go back to it"},
		"reasoning by the new name": {provider: "vllm", refuses: func(b body) bool { return b.messages("assistant")[0]["reasoning"] != nil },
			says:   "property 'reasoning' is unsupported, did you mean 'role'?",
			change: "what the model thought does not go back to it"},
		"null content": {refuses: func(b body) bool { return silent(b) == nil }, says: "invalid message content type: <nil>",
			change: "a missing text is empty"},
		"empty content": {provider: "ollama", refuses: func(b body) bool { return silent(b) == "" },
			says:   "The content field in the Message object at messages.2 is empty",
			change: "a missing text is null"},
		"bridge": {refuses: func(b body) bool {
			roles := b.roles()
			return slices.ContainsFunc(roles[1:], func(string) bool { return strings.Contains(strings.Join(roles, " "), "tool user") })
		}, says: "Unexpected role 'user' after role 'tool'",
			change: "a message of the model stands between a result and a message of the user"},
		"id of nine": {refuses: func(b body) bool { return strings.Contains(b.text(), "functions.read") },
			says:   "Tool call id was functions.read:0 but must be a-z, A-Z, 0-9, with a length of 9.",
			change: "ids of calls are nine letters and digits"},
		"id too long": {refuses: func(b body) bool { return strings.Contains(b.text(), "functions.read") },
			says:   "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40",
			change: "ids of calls are nine letters and digits"},
		"system": {status: 500, refuses: func(b body) bool { return len(b.messages("system")) > 0 },
			says:   "Jinja Exception: System role not supported",
			change: "the system prompt stands before the first message of the user"},
		"several calls": {status: 500, refuses: func(b body) bool {
			return slices.ContainsFunc(b.messages("assistant"), func(m body) bool { return m.calls() > 1 })
		}, says: "This model only supports single tool-calls at once!",
			change: "calls go back one by one, each with its result"},
		"parallel": {provider: "qwen", refuses: func(b body) bool { return b["parallel_tool_calls"] != nil },
			says:   "Unrecognized request argument supplied: parallel_tool_calls",
			change: "several calls at once are not asked for"},
		"images": {refuses: func(b body) bool { return strings.Contains(b.text(), "image_url") },
			says:   "Failed to deserialize the JSON body into the target type: messages[8]: unknown variant `image_url`, expected `text`",
			change: "the model is told that there was an image, and does not see it"},
		"images, by nobody": {provider: "openrouter", status: 404, refuses: func(b body) bool { return strings.Contains(b.text(), "image_url") },
			says: "No endpoints found that support image input", change: "the model is told that there was an image, and does not see it"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := &picky{refuses: test.refuses, status: max(test.status, 0), says: test.says}
			if server.status == 0 {
				server.status = http.StatusBadRequest
			}
			c := newClient(t, server.ServeHTTP, by(t, test.provider))
			var told []model.Resend
			for range 2 {
				req := everything()
				req.Resend = func(r model.Resend) error { told = append(told, r); return nil }
				resp, err := c.Generate(t.Context(), req, nil)
				if err != nil {
					t.Fatal(err)
				}
				if resp.Text != "ok" {
					t.Errorf("answer %q", resp.Text)
				}
			}
			if len(told) != 1 || told[0].Change != test.change || !strings.Contains(told[0].Err.Error(), test.says) {
				t.Errorf("told %v, want %q once", told, test.change)
			}
			if server.requests != 3 || server.refused != 1 {
				t.Errorf("%d requests and %d refused, want 3 and 1", server.requests, server.refused)
			}
		})
	}
}

// by chooses a provider; "" is the one of the address.
func by(t *testing.T, name string) func(*openai.Options) {
	t.Helper()
	if name == "" {
		return func(*openai.Options) {}
	}
	p, err := provider.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return func(o *openai.Options) { o.Provider = p }
}

// TestRefusedWhateverIsDone: a server that refuses everything, in words that
// name everything, is asked only so often.
func TestRefusedWhateverIsDone(t *testing.T) {
	for _, status := range []int{400, 422, 500} {
		server := &picky{refuses: func(body) bool { return true }, status: status,
			says: "chat template: stream_options max_tokens parallel_tool_calls reasoning_content content user after tool image " +
				"tool_call_id system role is not supported single tool-calls at once"}
		c := newClient(t, server.ServeHTTP)
		if _, err := c.Generate(t.Context(), everything(), nil); err == nil {
			t.Error("no error")
		}
		if server.requests < 2 || server.requests > 13 {
			t.Errorf("status %d: %d requests", status, server.requests)
		}
	}
}

// TestRefusedAsAsked: where a request is written as its refusal asks for, it is
// not sent again, and nothing that the refusal does not name is changed for it.
func TestRefusedAsAsked(t *testing.T) {
	tests := map[string]struct{ provider, says string }{
		"reasoning wanted":     {"deepseek", "The reasoning_content in the thinking mode must be passed back to the API."},
		"fields that are none": {"generic", "unknown field extra_content, and the model's context_content is wrong"},
		"a longer word":        {"generic", "the contents are wrong"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := &picky{refuses: func(body) bool { return true }, status: 400, says: test.says}
			c := newClient(t, server.ServeHTTP, by(t, test.provider))
			if _, err := c.Generate(t.Context(), everything(), nil); err == nil || server.requests != 1 {
				t.Errorf("error %v after %d requests, want one", err, server.requests)
			}
		})
	}
}

// TestOtherFailuresChangeNothing: only a refusal of the request itself is met
// by writing it otherwise.
func TestOtherFailuresChangeNothing(t *testing.T) {
	tests := map[string]struct {
		status int
		says   string
	}{
		"server failed":    {500, "internal error near content and stream_options"},
		"rate limit":       {429, "max_tokens per minute"},
		"wrong key":        {401, "content"},
		"overflow":         {400, "maximum context length is 4096 tokens: max_tokens, content"},
		"filtered":         {400, "content_filter: content"},
		"something else":   {400, "the sky is blue"},
		"no such provider": {404, "stream_options"},
		"no such model":    {404, "the model gpt-4-vision is not supported; content"},
		"nobody with tools": {404, `No endpoints found that support tool use. Try disabling "read". To learn more about provider routing, visit: ` +
			"https://openrouter.ai/docs/guides/routing/provider-selection"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := &picky{refuses: func(body) bool { return true }, status: test.status, says: test.says}
			c := newClient(t, server.ServeHTTP)
			_, err := c.Generate(t.Context(), everything(), nil)
			if err == nil || server.requests != 1 {
				t.Errorf("error %v after %d requests, want one", err, server.requests)
			}
		})
	}
}

// TestNameChangesNothing: a model's name tells nothing of what its server
// refuses, whether belljar or the server says it, and neither does belljar's
// advice.
func TestNameChangesNothing(t *testing.T) {
	for _, name := range []string{"meta/llama-3.2-11b-vision-instruct", "flux-image-1", "multi-modal:latest"} {
		for says, status := range map[string]int{
			"No endpoints found that support tool use.":                        404,
			"No endpoints found that support the provided 'tool_choice' value": 404,
			name + " does not support tools":                                   400,
			"model " + path.Base(name) + " does not support thinking":          400,
			"does not support tools":                                           400,
		} {
			server := &picky{refuses: func(body) bool { return true }, status: status, says: says}
			c := newClient(t, server.ServeHTTP, by(t, "openrouter"), func(o *openai.Options) { o.Model = name })
			req := everything()
			req.Resend = func(r model.Resend) error { t.Errorf("told %q", r); return nil }
			if _, err := c.Generate(t.Context(), req, nil); err == nil || server.requests != 1 {
				t.Errorf("%s, %q: error %v after %d requests, want one", name, says, err, server.requests)
			}
		}
	}
}

// TestResendGivesNoAdvice: whom a refusal was dealt with for is told what the
// server said, and not what else could be done about it.
func TestResendGivesNoAdvice(t *testing.T) {
	const says = "No endpoints found that support image input"
	server := &picky{refuses: func(b body) bool { return strings.Contains(b.text(), "image_url") }, status: 404, says: says}
	c := newClient(t, server.ServeHTTP, by(t, "openrouter"))
	var told []string
	req := everything()
	req.Resend = func(r model.Resend) error { told = append(told, r.String()); return nil }
	if _, err := c.Generate(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || !strings.Contains(told[0], ": 404 Not Found: "+says+"; from now on the model is told that there was an image") {
		t.Errorf("told %q", told)
	}
}

// TestDialectLearnsAtOnce: requests side by side learn from one another, and
// none of them fails for what another has learned.
func TestDialectLearnsAtOnce(t *testing.T) {
	server := &picky{refuses: func(b body) bool { return b["stream_options"] != nil }, status: 400, says: "stream_options"}
	c := newClient(t, server.ServeHTTP)
	var asked sync.WaitGroup
	for range 8 {
		asked.Go(func() {
			req := hello
			req.Resend = func(r model.Resend) error {
				if r.Change != "token counts are not asked for" {
					t.Errorf("told %q", r.Change)
				}
				return nil
			}
			if _, err := c.Generate(t.Context(), req, nil); err != nil {
				t.Error(err)
			}
		})
	}
	asked.Wait()
	if server.refused > 8 || server.requests != server.refused+8 {
		t.Errorf("%d requests and %d refused", server.requests, server.refused)
	}
}

// TestFurtherFieldsGoBack: what a server sends with a call goes back to it as
// it was, and to no other one; a server that does not want its own fields back
// gets none.
func TestFurtherFieldsGoBack(t *testing.T) {
	const fields = `"extra_content":{"google":{"thought_signature":"A+/=="}},"n":9007199254740993`
	var sent []string
	refuse := false
	serve := func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		sent = append(sent, string(data))
		if refuse && strings.Contains(string(data), "extra_content") {
			w.WriteHeader(422)
			_, _ = io.WriteString(w, `{"detail":[{"type":"extra_forbidden","loc":["body","messages",1,"tool_calls",0,"extra_content"]}]}`)
			return
		}
		bytewise(w, events(calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{}","signature":{"s":"B"}},`+fields+`}`), finish("tool_calls")))
	}
	one, other := newClient(t, serve), newClient(t, serve)
	resp, err := one.Generate(t.Context(), hello, nil)
	if err != nil {
		t.Fatal(err)
	}
	next := model.Request{Messages: []model.Message{user("x"), assistant("", resp.Calls...), result("a", textPart("y"))}}
	for _, c := range []*openai.Client{one, other} {
		if _, err := c.Generate(t.Context(), next, nil); err != nil {
			t.Fatal(err)
		}
	}
	refuse = true
	if _, err := one.Generate(t.Context(), next, nil); err != nil {
		t.Fatal(err)
	}
	var got []bool
	for _, s := range sent {
		got = append(got, strings.Contains(s, `"extra_content":{"google":{"thought_signature":"A+/=="}}`) && strings.Contains(s, `"n":9007199254740993`) &&
			strings.Contains(s, `"function":{"arguments":"{}","name":"read","signature":{"s":"B"}}`))
	}
	if diff := cmp.Diff([]bool{false, true, false, true, false}, got); diff != "" {
		t.Errorf("requests with the fields (-want +got):\n%s", diff)
	}
}

// TestKeyHeader: the key goes where the provider wants it, and nowhere else.
func TestKeyHeader(t *testing.T) {
	for name, want := range map[string][2]string{"": {"Bearer " + testKey, ""}, "azure": {"", testKey}} {
		var got [2]string
		c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
			got = [2]string{r.Header.Get("Authorization"), r.Header.Get("Api-Key")}
			bytewise(w, events(content("a"), finish("stop")))
		}, by(t, name))
		if _, err := c.Generate(t.Context(), hello, nil); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("provider %q: headers %q, want %q", name, got, want)
		}
	}
}
