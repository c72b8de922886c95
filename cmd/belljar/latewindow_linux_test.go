package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belljar/belljar/agent/trajectory"
)

// TestWindowOfLoadedModel: a server that says what a model takes as it is loaded
// is asked again when it has answered, whatever it said before, and believed
// then. A window into which not even the prompt fits is told, once.
func TestWindowOfLoadedModel(t *testing.T) {
	const most = 40 // turns; that the server has answered is waited for, so few are taken
	for _, test := range []struct {
		name           string
		before, loaded int // tokens; 0 is a model that is not loaded
		turns          int // 0 is as many as it takes
		code           int
		said           bool
	}{
		{"loaded by the run", 0, 32_768, 0, exitOK, false},
		{"loaded anew for the run", 2048, 32_768, 0, exitOK, false},
		{"a large one before", 131_072, 16_384, 0, exitOK, false},
		{"a smaller one before", 16_384, 131_072, 0, exitOK, false},
		{"the same before", 16_384, 16_384, 0, exitOK, false},
		{"in a run of one answer", 131_072, 16_384, 1, exitOK, false},
		{"too little", 0, 4096, 0, exitLimit, true},
		{"too little before and after", 4096, 4096, 0, exitLimit, true},
		{"too little after a large one", 131_072, 4096, 0, exitLimit, true},
		{"too little in a run of one answer", 0, 4096, 1, exitOK, true},
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
			settled := func() bool { return holds(t, state, fmt.Sprintf(`"context_window": %d,`, test.loaded)) }
			var turns atomic.Int32
			loaded := make(chan struct{}) // closed when it was told how the model is loaded
			tell := sync.OnceFunc(func() { close(loaded) })
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				switch tokens := map[bool]int{false: test.before, true: test.loaded}[turns.Load() > 0]; {
				case strings.HasSuffix(r.URL.Path, "/chat/completions"):
					delta, reason := `"content":"Done."`, "stop"
					n := turns.Add(1)
					if n == 2 {
						select {
						case <-loaded:
						case <-time.After(20 * time.Second): // it was not asked again
						}
					}
					if test.turns == 0 && (n < 3 || !settled() && n < most) {
						delta = fmt.Sprintf(`"tool_calls":[{"index":0,"id":"c%d","function":{"name":"read_file","arguments":"{\"path\":\"%d\"}"}}]`, n, n)
						reason = "tool_calls"
					}
					fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{%s},\"finish_reason\":%q}]}\n\n", delta, reason)
				case r.URL.Path == "/api/ps" && tokens > 0:
					fmt.Fprintf(w, `{"models":[{"name":"m:latest","model":"m:latest","context_length":%d}]}`, tokens)
					if turns.Load() > 0 {
						tell()
					}
				default:
					fmt.Fprint(w, `{"models":[]}`)
				}
			}))
			defer server.Close()
			var stdout, stderr bytes.Buffer
			a := bareApp(&stdout, &stderr)
			code := a.run(t.Context(), []string{"run", "-w", workspace, "--model", "m", "--provider", "ollama", "--base-url", server.URL + "/v1", "go"})
			const said = "the model's server says that it takes 4096 tokens, and the prompt and the tools alone have about"
			if n := strings.Count(stderr.String(), said); code != test.code || n > 1 || (n == 1) != test.said {
				t.Errorf("exit code %d, said %d times, stderr:\n%s", code, n, stderr.String())
			}
			sessions, err := trajectory.List(state)
			if err != nil || len(sessions) != 1 {
				t.Fatalf("%d sessions, error %v", len(sessions), err)
			}
			if manifest, err := sessions[0].Manifest(); err != nil || manifest.ContextWindow != test.loaded || manifest.ContextWindowFrom != "server" {
				t.Errorf("manifest %+v, error %v, want a window of %d", manifest, err, test.loaded)
			}
		})
	}
}

// TestSmallWindowOfServer: a window into which not even the prompt fits is told
// however the run ends, with what can be done about it; one into which a little
// more fits is a window like any other.
func TestSmallWindowOfServer(t *testing.T) {
	for _, test := range []struct {
		name, provider string
		tokens         int
		refuses        bool
		code           []int  // by what comes first, the server's word or the request
		said           string // "" is nothing
	}{
		{"refused", "vllm", 2048, true, []int{exitLimit}, "--max-model-len"},
		{"refused, by llama.cpp", "llama.cpp", 2048, true, []int{exitLimit}, "-c"},
		{"answered", "vllm", 2048, false, []int{exitOK, exitLimit}, "--max-model-len"},
		{"a service", "groq", 2048, false, []int{exitOK, exitLimit}, "use a model that takes more"},
		{"a little more than the prompt", "vllm", 7000, false, []int{exitOK}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			state := t.TempDir()
			t.Setenv("BELLJAR_STATE_DIR", state)
			told := make(chan struct{})
			tell := sync.OnceFunc(func() { close(told) })
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
					fmt.Fprintf(w, `{"n_ctx":%d,"data":[{"id":"m","max_model_len":%[1]d,"context_window":%[1]d}]}`, test.tokens)
					tell()
					return
				}
				select {
				case <-told:
				case <-r.Context().Done():
				}
				if test.refuses {
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprint(w, `{"error":{"message":"the prompt is longer than the context length"}}`)
					return
				}
				fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Done.\"},\"finish_reason\":\"stop\"}]}\n\n")
			}))
			defer server.Close()
			var stdout, stderr bytes.Buffer
			a := bareApp(&stdout, &stderr)
			code := a.run(t.Context(), []string{"run", "-w", t.TempDir(), "--model", "m", "--provider", test.provider, "--base-url", server.URL + "/v1", "go"})
			const said = "the model's server says that it takes 2048 tokens"
			words := strings.Join(strings.Fields(stderr.String()), " ")
			if n := strings.Count(words, said); !slices.Contains(test.code, code) || n > 1 || (n == 1) != (test.said != "") || !strings.Contains(words, test.said) {
				t.Errorf("exit code %d, said %d times, stderr:\n%s", code, n, stderr.String())
			}
			sessions, err := trajectory.List(state)
			if err != nil || len(sessions) != 1 {
				t.Fatalf("%d sessions, error %v", len(sessions), err)
			}
			if manifest, err := sessions[0].Manifest(); err != nil || manifest.ContextWindow != test.tokens {
				t.Errorf("manifest %+v, error %v, want a window of %d", manifest, err, test.tokens)
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
