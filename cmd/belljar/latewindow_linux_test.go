package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/belljar/belljar/agent/trajectory"
)

// TestWindowOfLoadedModel: a server that says what a model takes only once it is
// loaded is asked again when it has answered. A window into which hardly
// anything fits is told then, once, and not used.
func TestWindowOfLoadedModel(t *testing.T) {
	const most = 40 // turns; far more than an answer of a server on this machine takes
	for _, test := range []struct {
		name           string
		before, loaded int // tokens; 0 is a model that is not loaded
		window         int
		said           bool
	}{
		{"loaded by the run", 0, 32_768, 32_768, false},
		{"loaded anew for the run", 2048, 32_768, 32_768, false},
		{"too little", 0, 4096, 0, true},
		{"too little before and after", 4096, 4096, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			workspace, state := t.TempDir(), t.TempDir()
			for i := range most + 1 {
				if err := os.WriteFile(filepath.Join(workspace, fmt.Sprint(i)), []byte(fmt.Sprint(i)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("BELLJAR_STATE_DIR", state)
			// The run goes on until the answer has come to something.
			settled := func() bool { return holds(t, state, `"context_window_from": "server"`, `"kind":"window"`) }
			var turns atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				switch tokens := map[bool]int{false: test.before, true: test.loaded}[turns.Load() > 0]; {
				case strings.HasSuffix(r.URL.Path, "/chat/completions"):
					delta, reason := `"content":"Done."`, "stop"
					if n := turns.Add(1); n < 3 || !settled() && n < most {
						delta = fmt.Sprintf(`"tool_calls":[{"index":0,"id":"c%d","function":{"name":"read_file","arguments":"{\"path\":\"%d\"}"}}]`, n, n)
						reason = "tool_calls"
					}
					fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{%s},\"finish_reason\":%q}]}\n\n", delta, reason)
				case r.URL.Path == "/api/ps" && tokens > 0:
					fmt.Fprintf(w, `{"models":[{"name":"m:latest","model":"m:latest","context_length":%d}]}`, tokens)
				default:
					fmt.Fprint(w, `{"models":[]}`)
				}
			}))
			defer server.Close()
			var stdout, stderr bytes.Buffer
			a := newApp(connectFake)
			a.stdin, a.stdout, a.stderr = strings.NewReader(""), &stdout, &stderr
			a.lookupEnv = func(string) (string, bool) { return "", false }
			code := a.run(t.Context(), []string{"run", "-w", workspace, "--model", "m", "--provider", "ollama", "--base-url", server.URL + "/v1", "go"})
			const said = "the model's server says that it takes 4096 tokens, of which the prompt and the tools alone take about"
			if n := strings.Count(stderr.String(), said); code != exitOK || n > 1 || (n == 1) != test.said {
				t.Errorf("exit code %d, said %d times, stderr:\n%s", code, n, stderr.String())
			}
			sessions, err := trajectory.List(state)
			if err != nil || len(sessions) != 1 {
				t.Fatalf("%d sessions, error %v", len(sessions), err)
			}
			if manifest, err := sessions[0].Manifest(); err != nil || manifest.ContextWindow != test.window {
				t.Errorf("manifest %+v, error %v, want a window of %d", manifest, err, test.window)
			}
		})
	}
}

// holds tells whether a file of a session has one of the texts.
func holds(t *testing.T, state string, texts ...string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(state, "*", "*.json*"))
	if err != nil {
		t.Error(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) { // the manifest is replaced whole
			t.Error(err)
		}
		for _, text := range texts {
			if bytes.Contains(data, []byte(text)) {
				return true
			}
		}
	}
	return false
}
