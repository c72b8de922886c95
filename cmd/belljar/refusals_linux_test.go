package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belljar/belljar/agent/trajectory"
)

// TestRefusalsEndRuns follows what a server answers for ever to the exit code,
// to what the user is told, and to how often it was asked.
func TestRefusalsEndRuns(t *testing.T) {
	const hour = "3600"
	for _, test := range []struct {
		name       string
		status     int
		retryAfter string
		body       string
		args       []string
		code       int
		requests   int32
		says       string
		wait       time.Duration // of the manifest
	}{
		{"filtered", 400, "", `{"error":{"message":"Content Exists Risk","code":"invalid_request_error"}}`, nil, exitRefused, 1, "Content Exists Risk", 0},
		{"filtered, forbidden", 403, "", `{"code":"no permission","error":"Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"}`, nil, exitRefused, 1, "usage guidelines", 0},
		{"not paid", 429, "", `{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}`, nil, exitModel, 1, "Please recharge", 0},
		{"a bad call", 400, "", `{"error":{"message":"Failed to call a function.","code":"tool_use_failed","failed_generation":"<function=bash{"}}`, nil, exitStuck, 3, "told the model: The call in your last answer could not be read", 0},
		{"asked for too long", 429, hour, "", nil, exitModel, 1, "asks not to be asked again before", 0},
		{"as long as allowed", 429, hour, "", []string{"--max-wait", "2h", "--max-time", "20m"}, exitLimit, 1, "no time is left for another try", 2 * time.Hour},
		{"longer than allowed", 429, hour, "", []string{"--max-wait", "30m"}, exitModel, 1, "or give --max-wait", 30 * time.Minute},
		{"down for too long", 503, "", "", []string{"--max-wait", "20ms"}, exitModel, 2, "gave up after 2 tries and waits of 0s", 20 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			var requests atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				requests.Add(1)
				if test.retryAfter != "" {
					w.Header().Set("Retry-After", test.retryAfter)
				}
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			}))
			t.Cleanup(server.Close)
			state := t.TempDir()
			t.Setenv("BELLJAR_STATE_DIR", state)
			var stdout, stderr bytes.Buffer
			a := bareApp(&stdout, &stderr)
			args := append([]string{"run", "-w", t.TempDir(), "--model", "m", "--base-url", server.URL + "/v1"}, test.args...)
			code := a.run(t.Context(), append(args, "look around"))
			words := strings.Join(strings.Fields(stderr.String()), " ")
			if code != test.code || requests.Load() != test.requests || !strings.Contains(words, test.says) {
				t.Errorf("exit code %d after %d requests, want %d after %d and %q; stderr:\n%s",
					code, requests.Load(), test.code, test.requests, test.says, stderr.String())
			}
			sessions, err := trajectory.List(state)
			if err != nil || len(sessions) != 1 {
				t.Fatalf("%d sessions, error %v", len(sessions), err)
			}
			manifest, err := sessions[0].Manifest()
			if err != nil || manifest.Budget.WaitMS != test.wait.Milliseconds() {
				t.Errorf("the budget on record is %+v, error %v", manifest.Budget, err)
			}
		})
	}
}
