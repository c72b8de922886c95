package openai_test

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belljar/belljar/agent/model"
)

// refusedWith is what a client makes of a refusal.
func refusedWith(t *testing.T, status int, header map[string]string, body string) *model.Error {
	t.Helper()
	c := newClient(t, func(w http.ResponseWriter, _ *http.Request) {
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	_, err := c.Generate(t.Context(), hello, nil)
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is no model.Error", err)
	}
	return e
}

// behindRouter is a failure of one behind OpenRouter, as that tells it.
func behindRouter(status int, raw string) string {
	return `{"error":{"message":"Provider returned error","code":` + strconv.Itoa(status) + `,"metadata":{"raw":` + raw +
		`,"provider_name":"Nvidia","is_byok":false}},"user_id":"u"}`
}

// TestRefusalDetails: what went wrong is found wherever a server says it.
func TestRefusalDetails(t *testing.T) {
	tests := map[string]struct {
		status int
		body   string
		kind   model.Kind
		says   string // how the message ends
		after  time.Duration
	}{
		"behind a router": {400, behindRouter(400, `"{\"error\":{\"message\":\"This model's maximum context length is 262144 tokens. However, your messages resulted in 262897 tokens.\",\"type\":\"Bad Request\",\"code\":400}}"`),
			model.Context, "400 Bad Request: Provider returned error (Nvidia): This model's maximum context length is 262144 tokens. However, your messages resulted in 262897 tokens.", 0},
		"filtered behind one": {400, behindRouter(400, `"{\"error\":{\"code\":\"content_filter\",\"message\":\"The response was filtered\",\"param\":\"prompt\"}}"`),
			model.Filtered, "Provider returned error (Nvidia): The response was filtered (content_filter) (prompt)", 0},
		"an object behind one":  {400, behindRouter(400, `{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}`), model.Context, "(Nvidia): prompt is too long: 9 tokens > 8 maximum", 0},
		"words behind one":      {429, behindRouter(429, `"m is temporarily rate-limited upstream. Please retry in 9s"`), model.RateLimited, "upstream. Please retry in 9s", 9 * time.Second},
		"a wait behind one":     {429, behindRouter(429, `"[{\"error\":{\"code\":429,\"message\":\"Quota exceeded\",\"details\":[{\"retryDelay\":\"34s\"}]}}]"`), model.RateLimited, "(Nvidia): Quota exceeded", 34 * time.Second},
		"a page behind one":     {502, behindRouter(502, `"<html>Bad Gateway</html>"`), model.Transient, "502 Bad Gateway: Provider returned error", 0},
		"cut short behind one":  {400, behindRouter(400, `"{\"error\":{\"message\":\"prompt is too long"`), model.Context, `prompt is too long`, 0},
		"nothing behind one":    {400, behindRouter(400, `null`), model.BadRequest, "400 Bad Request: Provider returned error", 0},
		"a router's own words":  {402, `{"error":{"message":"Insufficient credits","code":402,"metadata":[]}}`, model.Permanent, "402 Payment Required: Insufficient credits", 0},
		"two routers":           {400, behindRouter(400, strconv.Quote(behindRouter(400, `"prompt is too long"`))), model.Context, "(Nvidia): Provider returned error (Nvidia): prompt is too long", 0},
		"a list":                {400, `[{"error":{"code":400,"message":"Bad thing.","status":"INVALID_ARGUMENT"}}]`, model.BadRequest, "400 Bad Request: Bad thing.", 0},
		"a code beside":         {403, `{"code":"permission-denied","error":"no"}`, model.Auth, "403 Forbidden: no (permission-denied); check the key in OPENAI_API_KEY", 0},
		"true, and words":       {400, `{"error":true,"message":"no such thing"}`, model.BadRequest, "400 Bad Request: no such thing", 0},
		"nested without end":    {400, strings.Repeat(`{"error":`, 5000) + `"x"` + strings.Repeat("}", 5000), model.BadRequest, "…", 0},
		"the status inside one": {400, `{"error":{"message":"no","code":"x","status_code":400}}`, model.BadRequest, "400 Bad Request: no (x)", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := refusedWith(t, test.status, nil, test.body)
			if e.Kind != test.kind || !strings.HasSuffix(e.Message, test.says) || e.RetryAfter != test.after {
				t.Errorf("%q of kind %s, retry after %s; want %q, %s, %s", e.Message, e.Kind, e.RetryAfter, test.says, test.kind, test.after)
			}
		})
	}
}

// TestRoutersHeaders: a router tells when the one behind it, or its own free
// share, may be asked again.
func TestRoutersHeaders(t *testing.T) {
	reset := strconv.FormatInt(time.Now().Add(3*time.Hour).UnixMilli(), 10)
	body := `{"error":{"message":"Rate limit exceeded: free-models-per-day","code":429,"metadata":{"headers":` +
		`{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"` + reset + `"},"provider_name":null}}}`
	e := refusedWith(t, 429, nil, body)
	if e.Kind != model.RateLimited || e.RetryAfter < 2*time.Hour || e.RetryAfter > 4*time.Hour {
		t.Errorf("kind %s, retry after %s, want 3 h", e.Kind, e.RetryAfter)
	}
	e = refusedWith(t, 500, map[string]string{"X-RateLimit-Remaining": "7", "X-RateLimit-Reset": reset}, "broken")
	if e.RetryAfter != 0 {
		t.Errorf("retry after %s, though something is left of the limit", e.RetryAfter)
	}
}

// TestDialectBehindRouter: a part that the one behind a router does not take is
// left out.
func TestDialectBehindRouter(t *testing.T) {
	requests := 0
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		if data, _ := io.ReadAll(r.Body); strings.Contains(string(data), "stream_options") {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, behindRouter(400, `"{\"error\":{\"message\":\"Unrecognized request argument supplied: stream_options\"}}"`))
			return
		}
		bytewise(w, events(content("ok"), finish("stop")))
	})
	if resp, err := c.Generate(t.Context(), hello, nil); err != nil || resp.Text != "ok" || requests != 2 {
		t.Errorf("answer %q, error %v after %d requests, want ok after 2", resp.Text, err, requests)
	}
}
