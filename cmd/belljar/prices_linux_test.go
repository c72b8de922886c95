package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/agent/trajectory"
)

// busyServer refuses the first request for being too many, asks for a tool in
// the next answers and counts a million tokens in each.
func busyServer(t *testing.T) *httptest.Server {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if requests++; requests == 1 {
			w.Header().Set("Retry-After", "0.01")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c%d","function":{"name":"glob","arguments":"{\"pattern\":\"%d*\"}"}}]},"finish_reason":"tool_calls"}]}`+"\n\n", requests, requests)
		fmt.Fprint(w, `data: {"choices":[],"usage":{"prompt_tokens":1000000,"completion_tokens":100000,"prompt_tokens_details":{"cached_tokens":500000},"completion_tokens_details":{"reasoning_tokens":50000}}}`+"\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(server.Close)
	return server
}

// TestCostOfARun follows what a run costs from the server's counts to the
// screen, the record, the manifest and the list of sessions.
func TestCostOfARun(t *testing.T) {
	const list = `{"prices": [{"models": ["m1"], "input": 2, "cached": 0.5, "output": 8, "reasoning": 4}]}`
	// 0.5 × 2 + 0.5 × 0.5 + 0.05 × 8 + 0.05 × 4 dollars an answer.
	for _, test := range []struct {
		name   string
		args   []string
		prices string
		stop   string
		cost   *float64
		said   string
	}{
		{"a limit", []string{"--max-cost", "3"}, list, "max_cost", new(3.7), "stopped at the limit on the cost; --max-cost raises it · 2 turns · 2,000,000 tokens in, 200,000 out"},
		{"no price", []string{"--max-requests", "2"}, `{"prices": []}`, "max_requests", nil, "cost unknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server, dir := busyServer(t), t.TempDir()
			file := filepath.Join(dir, "prices.json")
			if err := os.WriteFile(file, []byte(test.prices), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("BELLJAR_STATE_DIR", filepath.Join(dir, "state"))
			run := func(args ...string) (int, string, string) {
				var stdout, stderr bytes.Buffer
				a := bareApp(&stdout, &stderr)
				return a.run(t.Context(), args), stdout.String(), stderr.String()
			}
			args := append([]string{"run", "-w", t.TempDir(), "--model", "m1", "--base-url", server.URL + "/v1", "--prices", file}, test.args...)
			code, _, stderr := run(append(args, "look around")...)
			words := strings.Join(strings.Fields(stderr), " ")
			if code != exitLimit || !strings.Contains(words, test.said) || !strings.Contains(words, "1 wait for the model") || !strings.Contains(words, "429 Too Many Requests; trying again in") {
				t.Errorf("exit code %d, stderr:\n%s", code, stderr)
			}
			_, stdout, _ := run("sessions", "--json")
			var session struct {
				ID, Stop, Dir string
				CostUSD       *float64 `json:"cost_usd"`
			}
			if err := json.Unmarshal([]byte(stdout), &session); err != nil {
				t.Fatal(err)
			}
			if session.Stop != test.stop || !cmp.Equal(session.CostUSD, test.cost) || !strings.Contains(stdout, `"cost_usd":`) {
				t.Errorf("the list of sessions says %s", stdout)
			}
			shown, _ := trajectory.Open(filepath.Join(dir, "state"), session.ID)
			manifest, err := shown.Manifest()
			if err != nil {
				t.Fatal(err)
			}
			if known := test.cost != nil; (manifest.PriceFrom == file) != known || (len(manifest.Price) > 0) != known || manifest.Budget.Turns != 50 {
				t.Errorf("manifest %+v", manifest)
			}
			if test.cost == nil {
				return
			}
			if _, stdout, _ = run("show", session.ID); !strings.Contains(stdout, "cost $3.70") || !strings.Contains(stdout, "1 wait") {
				t.Errorf("show says:\n%s", stdout)
			}
			if _, stdout, _ = run("sessions"); !strings.Contains(stdout, "$3.70") {
				t.Errorf("sessions says:\n%s", stdout)
			}
		})
	}
}

func TestFindPrice(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.json")
	if err := os.WriteFile(own, []byte(`{"prices": [{"host": "api.openai.com", "models": ["gpt-4o"], "input": 1, "output": 1},
		{"host": "::1", "models": ["m"], "input": 2, "output": 2},
		{"host": "[FD00::7]", "models": ["m"], "input": 3, "output": 3},
		{"host": "10.0.0.5", "models": ["m"], "input": 4, "output": 4}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, file, variable, model, baseURL string
		input                                float64 // -1 is unknown
		from                                 string
	}{
		{"built in", "", "", "gpt-4o", "", 2.5, "built-in 20"},
		{"own list first", own, "", "gpt-4o", "", 1, own},
		{"own list by the environment", "", own, "gpt-4o", "https://api.openai.com/v1", 1, own},
		{"not in the own list", own, "", "gpt-4o-mini", "", 0.15, "built-in 20"},
		{"another server", own, "", "gpt-4o", "http://localhost:11434/v1", -1, ""},
		{"another model", own, "", "gpt-99", "", -1, ""},
		{"a port", own, "", "gpt-4o", "https://API.openai.com:8443/v1", 1, own},
		{"an IPv4 address", own, "", "m", "http://10.0.0.5:8000/v1", 4, own},
		{"an IPv6 address", own, "", "m", "http://[::1]/v1", 2, own},
		{"an IPv6 address and a port", own, "", "m", "http://[::1]:8080/v1", 2, own},
		{"an IPv6 address in brackets", own, "", "m", "http://[fd00::7]:8080/v1", 3, own},
		{"another IPv6 address", own, "", "m", "http://[::2]:8080/v1", -1, ""},
		{"no address", "", "", "gpt-4o", "http://[::1", -1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := &app{lookupEnv: func(name string) (string, bool) {
				return test.variable, name == "BELLJAR_PRICES" && test.variable != ""
			}}
			got, err := a.findPrice(test.file, test.model, test.baseURL)
			if err != nil {
				t.Fatal(err)
			}
			if (got.price != nil) != (test.input >= 0) || got.price != nil && got.price.Input != test.input || !strings.HasPrefix(got.from, test.from) {
				t.Errorf("%+v, want %g from %s", got, test.input, test.from)
			}
		})
	}
}

// A wait that goes past the run's time is not begun: the limit was reached, and
// the last words say what would have been waited for.
func TestNoTimeToWait(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Retry-After", "100")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	t.Setenv("BELLJAR_STATE_DIR", t.TempDir())
	var stdout, stderr bytes.Buffer
	a := bareApp(&stdout, &stderr)
	code := a.run(t.Context(), []string{"run", "-w", t.TempDir(), "--model", "m1", "--base-url", server.URL, "--max-time", "90s", "go"})
	for _, want := range []string{"stopped at the limit on time; --max-time raises it", "belljar: no time is left for another try: asking m1 at", "429 Too Many Requests"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("%q is not on stderr", want)
		}
	}
	if code != exitLimit || stdout.Len() > 0 {
		t.Errorf("exit code %d, stdout %q, stderr:\n%s", code, stdout.String(), stderr.String())
	}
}
