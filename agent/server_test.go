package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belljar/belljar/agent"
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/openai"
	"github.com/belljar/belljar/agent/trajectory"
	"github.com/belljar/belljar/internal/leaktest"
	"github.com/belljar/belljar/tools"
	"github.com/google/go-cmp/cmp"
)

// A server speaks the streaming protocol in pieces of one byte. Each request
// gets the next answer; the last one is for ever. It refuses what strict
// servers refuse: calls without results and results without calls.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	answers []http.HandlerFunc
	bodies  []string
}

func newServer(t *testing.T, answers ...http.HandlerFunc) *server {
	t.Helper()
	s := &server{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		answer := s.answers[min(len(s.bodies), len(s.answers)-1)]
		s.bodies = append(s.bodies, string(body))
		s.mu.Unlock()
		if err := wellFormed(body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// wellFormed checks the order of a conversation.
func wellFormed(body []byte) error {
	var req struct {
		Messages []struct {
			Role      string `json:"role"`
			CallID    string `json:"tool_call_id"`
			ToolCalls []struct {
				ID       string `json:"id"`
				Function struct {
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	var open []string
	for i, m := range req.Messages {
		if m.Role == "tool" {
			if len(open) == 0 || open[0] != m.CallID {
				return fmt.Errorf("message %d answers %q, but the open calls are %q", i, m.CallID, open)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("message %d comes before the results of %q", i, open)
		}
		for _, c := range m.ToolCalls {
			open = append(open, c.ID)
			if !json.Valid([]byte(c.Function.Arguments)) {
				return fmt.Errorf("message %d has arguments that are not JSON", i)
			}
		}
	}
	return nil
}

// streaming answers with events, and the end marker unless the last is cut.
func streaming(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		body := ""
		for _, e := range events {
			body += "data: " + e + "\n\n"
		}
		for i := range len(body) {
			if _, err := io.WriteString(w, body[i:i+1]); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}
}

const serverCalls = `{"choices":[{"delta":{"tool_calls":[` +
	`{"index":0,"id":"x","function":{"name":"look","arguments":"{\"n\":1}"}},{"index":1,"id":"y","function":{"name":"write","arguments":"{\"text\":"}}]},` +
	`"finish_reason":"tool_calls"}]}`

const serverText = `{"choices":[{"delta":{"content":"Grüße!"},"finish_reason":"stop"}]}`

func serverAgent(t *testing.T, s *server, record trajectory.Recorder, change func(*agent.Options)) *agent.Agent {
	t.Helper()
	client, err := openai.New(openai.Options{Model: "m", BaseURL: s.URL + "/v1", APIKey: "sk-canary-0123456789"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	o := agent.Options{
		Model: client, Retry: model.RetryPolicy{Base: time.Millisecond, Max: time.Millisecond},
		Tools: registry(t, echo("look", tools.Read), echo("write", tools.Write)), Recorder: record,
	}
	change(&o)
	a, err := agent.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAgainstServer: a run over HTTP with malformed arguments, a cut stream
// and a busy server in between, and everything on record in a real session.
func TestAgainstServer(t *testing.T) {
	leaktest.Check(t, 0)
	busy := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	s := newServer(t, busy, streaming(serverCalls, "[DONE]"), streaming(`{"choices":[{"delta":{"content":"Gr"}}]}`), streaming(serverText))
	session, err := trajectory.Create(t.TempDir(), trajectory.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	memory := &trajectory.Memory{}
	record := trajectory.NewMasker("sk-canary-0123456789").Wrap(trajectory.Tee(session.Writer(), memory))
	var said strings.Builder
	a := serverAgent(t, s, record, func(o *agent.Options) { o.OnText = func(text string) { said.WriteString(text) } })
	outcome, err := a.Run(t.Context(), "my key is sk-canary-0123456789")
	if err != nil {
		t.Fatal(err)
	}
	if outcome.Stop != agent.StopFinished || outcome.Final != "Grüße!" || outcome.Turns != 2 || !outcome.Usage.Estimated {
		t.Errorf("outcome %+v", outcome)
	}
	if said.String() != "GrGrüße!" {
		t.Errorf("onText got %q", said.String())
	}
	want := []string{
		"notice retry", "assistant: ", `call x look {"n":1}`, `call y write {"text":`,
		"notice retry", "assistant: Grüße!", "end finished 2 Grüße!",
	}
	if diff := cmp.Diff(want, without(story(memory), "start", "user", "usage", "result")); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	checkPairs(t, memory)
	if err := filepath.WalkDir(session.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "sk-canary") {
			t.Errorf("the key is in %s", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestCancelInTheStream cancels while the answer comes: the run ends and
// leaves nothing behind.
func TestCancelInTheStream(t *testing.T) {
	leaktest.Check(t, 0)
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		streaming(`{"choices":[{"delta":{"content":"half"}}]}`)(w, r)
		<-r.Context().Done()
	})
	stop := errors.New("interrupted by INT")
	ctx, cancel := context.WithCancelCause(t.Context())
	memory := &trajectory.Memory{}
	a := serverAgent(t, s, memory, func(o *agent.Options) { o.OnText = func(string) { cancel(stop) } })
	outcome, err := a.Run(ctx, "go")
	if outcome.Stop != agent.StopCanceled || !errors.Is(err, stop) || outcome.Turns != 0 {
		t.Errorf("outcome %+v and error %v", outcome, err)
	}
	checkPairs(t, memory)
}

// refusing answers 400 with what it does not like.
func refusing(says string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, says)
	}
}

// TestEverySendingCounts: a request that is written otherwise after a refusal
// and sent again is one more, and bounded like any other. What was refused in
// the middle of an answer is not sent again, and has its tokens counted.
func TestEverySendingCounts(t *testing.T) {
	options, system := refusing("stream_options is not permitted"), refusing("System role not supported by the chat template")
	late := streaming(`{"choices":[{"delta":{"content":"Hello"}}],"usage":{"prompt_tokens":1000,"completion_tokens":5}}`,
		`{"error":{"message":"stream_options is not permitted","code":400}}`)
	early := streaming(`{"error":{"message":"stream_options is not permitted","code":400}}`)
	busy := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	tests := map[string]struct {
		answers  []http.HandlerFunc
		most     int
		maxCost  float64
		requests int
		stop     agent.Stop
		said     string
		notice   string // the last one
	}{
		"no limit":           {answers: []http.HandlerFunc{options, system, streaming(serverText)}, requests: 3, stop: agent.StopFinished, said: "Grüße!"},
		"enough":             {answers: []http.HandlerFunc{options, system, streaming(serverText)}, most: 3, requests: 3, stop: agent.StopFinished, said: "Grüße!"},
		"one":                {answers: []http.HandlerFunc{options, system, streaming(serverText)}, most: 1, requests: 1, stop: agent.StopMaxRequests, notice: "stream_options is not permitted; no more requests may be sent"},
		"two":                {answers: []http.HandlerFunc{options, system, streaming(serverText)}, most: 2, requests: 2, stop: agent.StopMaxRequests, notice: "chat template; no more requests may be sent"},
		"among tries":        {answers: []http.HandlerFunc{busy, options, busy, system, streaming(serverText)}, most: 4, requests: 4, stop: agent.StopMaxRequests, notice: "no more requests may be sent"},
		"refused in a turn":  {answers: []http.HandlerFunc{streaming(serverCalls, "[DONE]"), options, streaming(serverText)}, most: 2, requests: 2, stop: agent.StopMaxRequests},
		"refused in a text":  {answers: []http.HandlerFunc{late, streaming(serverText)}, requests: 1, stop: agent.StopModel, said: "Hello"},
		"refused in a frame": {answers: []http.HandlerFunc{early, streaming(serverText)}, requests: 2, stop: agent.StopFinished, said: "Grüße!"},
		"its tokens cost":    {answers: []http.HandlerFunc{early, streaming(serverText)}, maxCost: 1e-9, requests: 1, stop: agent.StopMaxCost, notice: "no more money may be spent"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, memory := newServer(t, test.answers...), &trajectory.Memory{}
			var said strings.Builder
			a := serverAgent(t, s, memory, func(o *agent.Options) {
				o.MaxRequests, o.MaxCost = test.most, test.maxCost
				o.System, o.Price = "Be brief.", &model.Price{Rates: model.Rates{Input: 2, Output: 10}}
				o.OnText = func(text string) { said.WriteString(text) }
			})
			got, err := a.Run(t.Context(), "go")
			if got.Stop != test.stop || (err != nil) != (test.stop == agent.StopModel) {
				t.Errorf("%s and error %v, want %s", got.Stop, err, test.stop)
			}
			if len(s.bodies) != test.requests || got.Requests != test.requests {
				t.Errorf("%d requests came and %d are counted, want %d", len(s.bodies), got.Requests, test.requests)
			}
			if said.String() != test.said {
				t.Errorf("onText got %q, want %q", said.String(), test.said)
			}
			if test.said == "Hello" && got.Usage != (model.Usage{Input: 1000, Output: 5}) {
				t.Errorf("usage %+v", got.Usage)
			}
			if last := lastNotice(memory); !strings.Contains(last, test.notice) {
				t.Errorf("the last notice is %q, want one with %q", last, test.notice)
			}
			checkSums(t, memory, got)
		})
	}
}

// TestRefusalsAreTold: what a server refused, and what is written otherwise, is
// on record and told once each, before the answer that it led to.
func TestRefusalsAreTold(t *testing.T) {
	options, system := refusing("stream_options is not permitted"), refusing("System role not supported by the chat template")
	s := newServer(t, options, system, streaming(serverCalls, "[DONE]"), streaming(serverText))
	memory := &trajectory.Memory{}
	a := serverAgent(t, s, memory, func(o *agent.Options) { o.System = "Be brief." })
	if got, err := a.Run(t.Context(), "go"); err != nil || got.Requests != 4 {
		t.Fatalf("%+v, error %v", got, err)
	}
	var told []trajectory.Notice
	for _, body := range memory.Bodies() {
		if n, ok := body.(trajectory.Notice); ok {
			told = append(told, n)
		}
	}
	asked := "asking m at " + s.URL + "/v1: 400 Bad Request: "
	want := []trajectory.Notice{
		{Kind: trajectory.NoticeAdapted, Text: asked + "stream_options is not permitted; from now on token counts are not asked for"},
		{Kind: trajectory.NoticeAdapted, Text: asked + "System role not supported by the chat template; " +
			"from now on the system prompt stands before the first message of the user"},
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
	if first := without(story(memory), "start", "user")[0]; first != "notice adapted" {
		t.Errorf("the first event is %q", first)
	}
}

// lastNotice is the text of the last notice on record.
func lastNotice(memory *trajectory.Memory) string {
	last := ""
	for _, body := range memory.Bodies() {
		if n, ok := body.(trajectory.Notice); ok {
			last = n.Text
		}
	}
	return last
}
