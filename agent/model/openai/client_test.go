package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/openai"
	"github.com/belljar/belljar/internal/leaktest"
	"github.com/google/go-cmp/cmp"
)

func TestNewRefuses(t *testing.T) {
	tests := map[string]struct {
		options openai.Options
		says    string
	}{
		"no model":    {openai.Options{}, "--model"},
		"no scheme":   {openai.Options{Model: "m", BaseURL: "localhost:8080/v1"}, "https://"},
		"no host":     {openai.Options{Model: "m", BaseURL: "http:///v1"}, "no host"},
		"not a url":   {openai.Options{Model: "m", BaseURL: "http://%zz" + testKey}, "not a url"},
		"password":    {openai.Options{Model: "m", BaseURL: "http://u:" + testKey + "@h/v1"}, "OPENAI_API_KEY"},
		"key with LF": {openai.Options{Model: "m", APIKey: testKey + "\n"}, "key"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := openai.New(test.options)
			if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), testKey) {
				t.Errorf("error %v, want one with %q and without the key", err, test.says)
			}
		})
	}
}

// TestOnlyOptionsCount: the SDK's own variables must not change where a
// request goes and what it holds.
func TestOnlyOptionsCount(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/")
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"} {
		t.Setenv(name, "from-the-environment")
	}
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Custom: from-the-environment")
	for name, key := range map[string]string{"with a key": testKey, "without": ""} {
		t.Run(name, func(t *testing.T) {
			var got http.Header
			var path string
			c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
				got, path = r.Header, r.URL.String()
				bytewise(w, events(content("a"), finish("stop")))
			}, func(o *openai.Options) { o.APIKey = key; o.BaseURL += "/?version=1" })
			if _, err := c.Generate(t.Context(), hello, nil); err != nil {
				t.Fatal(err)
			}
			if path != "/v1/chat/completions?version=1" {
				t.Errorf("asked %s", path)
			}
			want := ""
			if key != "" {
				want = "Bearer " + key
			}
			if got.Get("Authorization") != want {
				t.Errorf("the key sent is %q, want %q", got.Get("Authorization"), want)
			}
			if strings.Contains(fmt.Sprint(got), "from-the-environment") {
				t.Errorf("the environment is in the headers: %v", got)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	future := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	tests := map[string]struct {
		status  int
		header  map[string]string
		body    string
		kind    model.Kind
		says    string
		atLeast time.Duration // of RetryAfter
	}{
		"wrong key":         {status: 401, body: `{"error":{"message":"Incorrect API key: ` + testKey + `"}}`, kind: model.Auth, says: "<secret-hidden>"},
		"forbidden":         {status: 403, kind: model.Auth, says: "OPENAI_API_KEY"},
		"no money":          {status: 402, body: `{"error":"pay"}`, kind: model.Permanent, says: "pay"},
		"bad request":       {status: 400, body: `{"error":{"message":"bad <tools>","param":"tools"}}`, kind: model.BadRequest, says: "bad <tools>"},
		"detail":            {status: 422, body: `{"detail":[{"msg":"field required"}]}`, kind: model.BadRequest, says: "field required"},
		"not found":         {status: 404, body: "404 page not found", kind: model.BadRequest, says: "/v1"},
		"rate":              {status: 429, header: map[string]string{"Retry-After": "7"}, kind: model.RateLimited, atLeast: 7 * time.Second},
		"rate with a date":  {status: 429, header: map[string]string{"Retry-After": future}, kind: model.RateLimited, atLeast: 59 * time.Minute},
		"rate in ms":        {status: 429, header: map[string]string{"Retry-After-Ms": "1500"}, kind: model.RateLimited, atLeast: 1500 * time.Millisecond},
		"rate for ever":     {status: 429, header: map[string]string{"Retry-After": "1e300"}, kind: model.RateLimited, atLeast: 24 * time.Hour},
		"rate, odd header":  {status: 429, header: map[string]string{"Retry-After": "soon"}, kind: model.RateLimited},
		"rate, no header":   {status: 429, kind: model.RateLimited},
		"quota":             {status: 429, body: `{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`, kind: model.Permanent},
		"quota, Google":     {status: 429, body: `[{"error":{"message":"You exceeded your current quota, please check your plan and billing details. Please retry in 34.1s."}}]`, kind: model.RateLimited, atLeast: 34 * time.Second},
		"quota for a while": {status: 429, header: map[string]string{"Retry-After": "5"}, body: `{"error":{"code":"insufficient_quota"}}`, kind: model.Permanent, atLeast: 5 * time.Second},
		"quota by its type": {status: 429, header: map[string]string{"Retry-After": "5"}, body: `{"error":{"type":"insufficient_quota","message":"You exceeded your current quota","code":null}}`, kind: model.Permanent, atLeast: 5 * time.Second},
		"quota, Kimi":       {status: 429, header: map[string]string{"Retry-After": "5"}, body: `{"error":{"type":"exceeded_current_quota_error","message":"please check your account balance"}}`, kind: model.Permanent, atLeast: 5 * time.Second},
		"bill":              {status: 429, header: map[string]string{"Retry-After": "5"}, body: `{"error":{"code":"billing_hard_limit_reached","message":"limit"}}`, kind: model.Permanent, atLeast: 5 * time.Second},
		"wrong key, Google": {status: 400, body: `[{"error":{"message":"API key not valid. Please pass a valid API key."}}]`, kind: model.Auth, says: "OPENAI_API_KEY"},
		"overloaded":        {status: 529, kind: model.Transient},
		"unavailable":       {status: 503, header: map[string]string{"Retry-After": "2"}, kind: model.Transient, atLeast: 2 * time.Second},
		"proxy page":        {status: 502, body: "<html>Bad Gateway</html>", kind: model.Transient, says: "502 Bad Gateway"},
		"overflow, OpenAI":  {status: 400, body: `{"error":{"code":"context_length_exceeded","message":"..."}}`, kind: model.Context},
		"overflow, vLLM":    {status: 400, body: `{"object":"error","message":"This model's maximum context length is 4096 tokens"}`, kind: model.Context},
		"overflow, llama":   {status: 500, body: `{"error":{"message":"the request exceeds the available context size"}}`, kind: model.Context},
		"overflow, Gemini":  {status: 400, body: `[{"error":{"message":"The input token count (9) exceeds the maximum number of tokens allowed"}}]`, kind: model.Context},
		"overflow, proxies": {status: 400, body: `{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}`, kind: model.Context},
		"overflow, Kimi":    {status: 400, body: `{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192"}}`, kind: model.Context},
		"overflow, Qwen":    {status: 400, body: `{"error":{"message":"Range of input length should be [1, 30720]"}}`, kind: model.Context},
		"overflow, GLM":     {status: 400, body: `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`, kind: model.Context},
		"overflow, xAI":     {status: 400, body: `{"error":"This model's maximum prompt length is 131072 but the request contains 150000 tokens."}`, kind: model.Context},
		"filtered":          {status: 400, body: `{"error":{"code":"content_filter","message":"The response was filtered"}}`, kind: model.Filtered},
		"template":          {status: 500, body: `{"error":{"code":500,"message":"Jinja Exception: roles must alternate"}}`, kind: model.BadRequest},
		"not implemented":   {status: 501, kind: model.Permanent},
		"huge":              {status: 400, body: strings.Repeat("x", 1<<20), kind: model.BadRequest},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			requests := 0
			c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
				requests++
				for k, v := range test.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			})
			_, err := c.Generate(t.Context(), hello, nil)
			var e *model.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v is no model.Error", err)
			}
			if e.Kind != test.kind || e.StatusCode != test.status || !strings.Contains(e.Message, test.says) {
				t.Errorf("%q of kind %s and status %d, want %q, %s, %d", e.Message, e.Kind, e.StatusCode, test.says, test.kind, test.status)
			}
			if e.RetryAfter < test.atLeast || test.atLeast == 0 && e.RetryAfter != 0 {
				t.Errorf("retry after %s, want at least %s", e.RetryAfter, test.atLeast)
			}
			if requests != 1 {
				t.Errorf("%d requests; trying again is not the client's", requests)
			}
			if text := fmt.Sprintf("%v %+v %#v", err, err, e); strings.Contains(text, testKey) || len(e.Message) > 2000 || strings.Contains(e.Message, "\n") {
				t.Errorf("the error holds the key, is too long or has many lines: %s", text)
			}
		})
	}
}

func TestTransportErrors(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	secure.Config.ErrorLog = nil
	tests := map[string]struct {
		url  string
		kind model.Kind
		says string
	}{
		"refused":         {gone.URL, model.Transient, "is the server running"},
		"https to http":   {"https" + strings.TrimPrefix(plain.URL, "http"), model.Permanent, "http://"},
		"not trusted":     {secure.URL, model.Permanent, "certificate"},
		"redirected away": {redirecting(t, plain.URL), model.Permanent, "check the base url: " + plain.URL},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := openai.New(openai.Options{Model: "m", BaseURL: test.url + "/v1?key=" + testKey, APIKey: testKey})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, err = c.Generate(t.Context(), hello, nil)
			if model.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), testKey) {
				t.Errorf("error %v of kind %q, want %q with %q and without the key", err, model.KindOf(err), test.kind, test.says)
			}
		})
	}
}

func redirecting(t *testing.T, to string) string {
	server := httptest.NewServer(http.RedirectHandler(to, http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	return server.URL
}

// piped is a transport whose answers are written by the test.
type piped func(ctx context.Context, w *io.PipeWriter)

func (p piped) RoundTrip(req *http.Request) (*http.Response, error) {
	r, w := io.Pipe()
	// A real connection ends with its request, whatever the server does.
	context.AfterFunc(req.Context(), func() { _ = w.CloseWithError(context.Cause(req.Context())) })
	go func() {
		p(req.Context(), w)
		_ = w.CloseWithError(context.Cause(req.Context()))
	}()
	return &http.Response{StatusCode: 200, Request: req, Body: r}, nil
}

func TestStalls(t *testing.T) {
	const first, idle = 10 * time.Minute, 10 * time.Minute
	pings := func(ctx context.Context, w *io.PipeWriter) {
		for ctx.Err() == nil {
			if _, err := io.WriteString(w, ": ping\n\ndata: {\"choices\":[]}\n\n"); err != nil {
				return
			}
			if pause(ctx, time.Second) != nil {
				return
			}
		}
	}
	// repeating sends a text, and then the same event for ever.
	repeating := func(event string) func(context.Context, *io.PipeWriter) {
		return func(ctx context.Context, w *io.PipeWriter) {
			_, err := io.WriteString(w, stream(content("a")))
			for err == nil && pause(ctx, time.Second) == nil {
				_, err = io.WriteString(w, stream(event))
			}
		}
	}
	thinking := func(delta string) func(context.Context, *io.PipeWriter) {
		return func(ctx context.Context, w *io.PipeWriter) {
			for range 10 {
				if pause(ctx, 2*time.Minute) != nil {
					return
				}
				_, _ = io.WriteString(w, stream(`{"choices":[{"delta":`+delta+`}]}`))
			}
			_, _ = io.WriteString(w, events(content("a"), finish("stop")))
		}
	}
	tests := map[string]struct {
		send func(ctx context.Context, w *io.PipeWriter)
		took time.Duration
		kind model.Kind
		says string
	}{
		"nothing comes": {func(ctx context.Context, w *io.PipeWriter) { <-ctx.Done() }, first, model.Stalled, "no answer began within 10m0s, and no sign of life"},
		"only comments": {pings, first, model.Stalled, "though the server keeps the connection alive"},
		"stops midway": {func(ctx context.Context, w *io.PipeWriter) {
			_, _ = io.WriteString(w, stream(content("a")))
			pings(ctx, w)
		}, idle, model.Stalled, "nothing more came for 10m0s, though the server keeps the connection alive"},
		"dies midway": {func(ctx context.Context, w *io.PipeWriter) {
			_, _ = io.WriteString(w, stream(content("a")))
			<-ctx.Done()
		}, idle, model.Stalled, "nothing more came for 10m0s, and no sign of life"},
		"stops inside an event": {func(ctx context.Context, w *io.PipeWriter) {
			_, _ = io.WriteString(w, stream(content("a"))+`data: {"choices":[{"delta":{"content":"`)
			for ctx.Err() == nil { // a byte now and then is no piece of an answer
				_, _ = io.WriteString(w, "b")
				if pause(ctx, time.Second) != nil {
					return
				}
			}
		}, idle, model.Stalled, "nothing more came"},
		"thinks in an unknown field":     {thinking(`{"reasoning_details":[{"text":"hm"}]}`), 20 * time.Minute, "", ""},
		"thinks in parts of the content": {thinking(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`), 20 * time.Minute, "", ""},
		"sends parts of an unknown kind": {thinking(`{"content":[{"type":"reference","reference_ids":[1]}]}`), 20 * time.Minute, "", ""},
		"sends parts without anything":   {thinking(`{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":""}]}`), first, model.Stalled, "keeps the connection alive"},
		"counts alone":                   {repeating(`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}],"usage":{"total_tokens":0}}`), idle, model.Stalled, "keeps the connection alive"},
		"an empty call":                  {repeating(calls(`{"index":0}`)), idle, model.Stalled, "keeps the connection alive"},
		"no arguments":                   {repeating(calls(`{"index":0,"id":"","function":{"arguments":""}}`)), idle, model.Stalled, "keeps the connection alive"},
		"the same call":                  {repeating(calls(`{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""},"x":{"y":1}}`)), idle + time.Second, model.Stalled, "keeps the connection alive"},
		"empty thoughts":                 {repeating(`{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","text":"","index":0}]}}]}`), idle, model.Stalled, "keeps the connection alive"},
		"the same field":                 {repeating(`{"choices":[{"delta":{"name":"some AI","audio_content":""}}]}`), idle + time.Second, model.Stalled, "keeps the connection alive"},
		"reasons for no end":             {repeating(`{"choices":[{"delta":{"content":""},"finish_reason":"FINISH_REASON_UNSPECIFIED"}]}`), idle, model.Stalled, "keeps the connection alive"},
		"a call held back": {func(ctx context.Context, w *io.PipeWriter) {
			_, _ = io.WriteString(w, stream(content("a")))
			if pause(ctx, 9*time.Minute) == nil {
				_, _ = io.WriteString(w, events(calls(`{"index":0,"id":"a","function":{"name":"write","arguments":"{}"}}`), finish("tool_calls")))
			}
		}, 9 * time.Minute, "", ""},
		"a reason with each piece": {func(ctx context.Context, w *io.PipeWriter) {
			for range 4 {
				_, _ = io.WriteString(w, stream(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`))
				if pause(ctx, time.Minute) != nil {
					return
				}
			}
			_, _ = io.WriteString(w, events())
		}, 4 * time.Minute, "", ""},
		"a reason first": {func(ctx context.Context, w *io.PipeWriter) {
			_, _ = io.WriteString(w, stream(`{"choices":[{"delta":{"role":"assistant"},"finish_reason":"stop"}]}`))
			if pause(ctx, time.Minute) == nil {
				_, _ = io.WriteString(w, events(content("a")))
			}
		}, time.Minute, "", ""},
		"a stall after a reason beside a piece": {func(ctx context.Context, w *io.PipeWriter) {
			_, _ = io.WriteString(w, stream(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`))
			pings(ctx, w)
		}, idle, model.Stalled, "keeps the connection alive"},
		"counts after a reason beside a piece": {func(ctx context.Context, w *io.PipeWriter) {
			_, _ = io.WriteString(w, stream(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`, counted))
			pings(ctx, w)
		}, 10 * time.Second, "", ""},
		"slow but steady": {func(ctx context.Context, w *io.PipeWriter) {
			for range 10 {
				if pause(ctx, 2*time.Minute) != nil {
					return
				}
				_, _ = io.WriteString(w, stream(content("a")))
			}
			_, _ = io.WriteString(w, events(finish("stop")))
		}, 20 * time.Minute, "", ""},
		"no end after the reason": {func(ctx context.Context, w *io.PipeWriter) {
			_, _ = io.WriteString(w, stream(content("a"), finish("stop")))
			pings(ctx, w)
		}, 10 * time.Second, "", ""},
		"open after the end marker": {func(ctx context.Context, w *io.PipeWriter) {
			_, _ = io.WriteString(w, events(content("a"), finish("stop")))
			<-ctx.Done()
		}, 250 * time.Millisecond, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, err := openai.New(openai.Options{
					Model: "m", BaseURL: "http://h/v1", HTTPClient: &http.Client{Transport: piped(test.send)},
				})
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				_, err = c.Generate(t.Context(), hello, nil)
				if model.KindOf(err) != test.kind || (err == nil) != (test.kind == "") || err != nil && !strings.Contains(err.Error(), test.says) {
					t.Errorf("error %v of kind %q, want %q with %q", err, model.KindOf(err), test.kind, test.says)
				}
				// A ping may come just before the limit, so a second of grace.
				if took := time.Since(start); took < test.took || took > test.took+time.Second {
					t.Errorf("took %s, want %s", took, test.took)
				}
			})
		})
	}
}

// slowly is a transport that takes its time to connect, and to answer then.
type slowly struct{ connect, answer time.Duration }

func (s slowly) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := pause(req.Context(), s.connect); err != nil {
		return nil, err
	}
	httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{})
	if err := pause(req.Context(), s.answer); err != nil {
		return nil, err
	}
	body := events(content("a"), finish("stop"))
	return &http.Response{StatusCode: 200, Request: req, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// TestConnectTimeout: the wait for a connection has its own limit and takes
// nothing from the one for the answer.
func TestConnectTimeout(t *testing.T) {
	tests := map[string]struct {
		way  slowly
		took time.Duration
		kind model.Kind
		says string
	}{
		"no connection":       {slowly{connect: time.Hour}, 30 * time.Second, model.Transient, "no connection within 30s"},
		"connected, no words": {slowly{connect: 20 * time.Second, answer: time.Hour}, 20*time.Second + 10*time.Minute, model.Stalled, "no answer began within 10m0s"},
		"slow at both":        {slowly{connect: 29 * time.Second, answer: 9 * time.Minute}, 29*time.Second + 9*time.Minute, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, err := openai.New(openai.Options{Model: "m", BaseURL: "http://h/v1", HTTPClient: &http.Client{Transport: test.way}})
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				_, err = c.Generate(t.Context(), hello, nil)
				if model.KindOf(err) != test.kind || err != nil && !strings.Contains(err.Error(), test.says) {
					t.Errorf("error %v of kind %q, want %q with %q", err, model.KindOf(err), test.kind, test.says)
				}
				if took := time.Since(start); took != test.took {
					t.Errorf("took %s, want %s", took, test.took)
				}
			})
		})
	}
}

func TestCancelInTheMiddle(t *testing.T) {
	stop := errors.New("the user pressed the key")
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan struct{})
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		bytewise(w, stream(content("half")))
		<-r.Context().Done()
	})
	_, err := c.Generate(ctx, hello, func(string) { cancel(stop) })
	if !errors.Is(err, stop) || model.KindOf(err).Retryable() {
		t.Errorf("error %v, want the cause of the cancellation", err)
	}
	select {
	case <-ended: // the server saw the connection close
	case <-time.After(30 * time.Second):
		t.Fatal("the request goes on after it was canceled")
	}
}

// TestNothingIsLeft: requests leave nothing behind, however they end.
func TestNothingIsLeft(t *testing.T) {
	leaktest.Check(t, 0)
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), "refuse"):
			w.WriteHeader(500)
		case strings.Contains(string(body), "cut"):
			bytewise(w, stream(content("half")))
		default:
			bytewise(w, events(content("whole"), finish("stop")))
		}
	})
	failed := 0
	for range 10 {
		for _, text := range []string{"whole", "refuse", "cut"} {
			if _, err := c.Generate(t.Context(), model.Request{Messages: []model.Message{user(text)}}, nil); err != nil {
				failed++
			}
		}
	}
	if failed != 20 {
		t.Errorf("%d requests failed, want 20", failed)
	}
}

func TestOptionsHideTheKey(t *testing.T) {
	o := openai.Options{Model: "m", BaseURL: "http://h/v1", APIKey: testKey}
	c, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%v %+v %#v %s", o, o, o, o)
	if strings.Contains(text, testKey) {
		t.Errorf("the key is in %s", text)
	}
	if diff := cmp.Diff("m", c.Name()); diff != "" {
		t.Errorf("name (-want +got):\n%s", diff)
	}
}
