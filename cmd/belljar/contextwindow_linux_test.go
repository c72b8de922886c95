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
	"sync"
	"testing"

	"github.com/belljar/belljar/agent/model/provider"
	"github.com/belljar/belljar/agent/trajectory"
)

// readingServer asks for one file after another and then says that it is done.
// To a request without tools it gives a summary.
func readingServer(t *testing.T, files int) *httptest.Server {
	turns := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		delta, reason := `"content":"All read."`, "stop"
		if !bytes.Contains(body, []byte(`"tools":`)) {
			delta = `"content":"Some were read."`
		} else if turns++; turns <= files {
			delta = fmt.Sprintf(`"tool_calls":[{"index":0,"id":"c%d","function":{"name":"read_file","arguments":"{\"path\":\"%d.txt\"}"}}]`, turns, turns)
			reason = "tool_calls"
		}
		fmt.Fprintf(w, `data: {"choices":[{"delta":{%s},"finish_reason":%q}]}`+"\n\ndata: [DONE]\n\n", delta, reason)
	}))
	t.Cleanup(server.Close)
	return server
}

// TestContextWindow follows a window from the flag to the manifest, and what
// comes of it to the screen and the record.
func TestContextWindow(t *testing.T) {
	const files = 12
	for _, test := range []struct {
		name, window string
		code         int
		said         []string
	}{
		{"enough", "100000", exitOK, nil},
		{"made shorter", "16000", exitOK, []string{"belljar: the conversation came near the end of what the model can take: "}},
		{"never enough", "1000", exitLimit, []string{"the prompt, the tools and the task alone (about ", "are too long for the model, which takes about 1000;", "the conversation is too long for the model"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			workspace, state := t.TempDir(), t.TempDir()
			for i := range files {
				text := strings.Repeat(fmt.Sprintf("line of %d\n", i+1), 900)
				if err := os.WriteFile(filepath.Join(workspace, fmt.Sprintf("%d.txt", i+1)), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("BELLJAR_STATE_DIR", state)
			var stdout, stderr bytes.Buffer
			a := bareApp(&stdout, &stderr)
			server := readingServer(t, files)
			code := a.run(t.Context(), []string{"run", "-w", workspace, "--model", "m", "--base-url", server.URL + "/v1", "--context-window", test.window, "read all"})
			words := strings.Join(strings.Fields(stderr.String()), " ")
			if code != test.code || code == exitOK && stdout.String() != "All read.\n" || strings.Contains(words, "came near the end") != (test.name == "made shorter") {
				t.Errorf("exit code %d, stdout %q, stderr:\n%s", code, stdout.String(), stderr.String())
			}
			for _, said := range test.said {
				if !strings.Contains(words, said) {
					t.Errorf("stderr does not say %q:\n%s", said, stderr.String())
				}
			}
			sessions, err := trajectory.List(state)
			if err != nil || len(sessions) != 1 {
				t.Fatalf("%d sessions, error %v", len(sessions), err)
			}
			manifest, err := sessions[0].Manifest()
			if err != nil || fmt.Sprint(manifest.ContextWindow) != test.window || manifest.ContextWindowFrom != "flag" {
				t.Errorf("manifest %+v, error %v", manifest, err)
			}
		})
	}
}

// TestWindowFromServer: what the model's server says is taken where nothing else
// is known, and no run fails or waits for a server that says nothing.
func TestWindowFromServer(t *testing.T) {
	tells := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
	}
	vllm := tells(`{"data":[{"id":"m","max_model_len":54321}]}`)
	hangs := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	const hanging = "it hangs"
	for _, test := range []struct {
		name   string
		tells  http.HandlerFunc
		flags  []string
		window int
		from   string
		asked  bool
	}{
		{"told", vllm, []string{"--provider", "vllm"}, 54321, "server", true},
		{"the flag first", vllm, []string{"--provider", "vllm", "--context-window", "100000"}, 100_000, "flag", false},
		{"a server that is not known", vllm, nil, 0, "", false},
		{"not found", http.NotFound, []string{"--provider", "vllm"}, 0, "", true},
		{hanging, hangs, []string{"--provider", "vllm"}, 0, "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			state, asked := t.TempDir(), make(chan string, 8) // more than are asked
			t.Setenv("BELLJAR_STATE_DIR", state)
			chat := readingServer(t, 0).Config.Handler
			served := make(chan struct{}) // closed when a question is over
			over := sync.OnceFunc(func() { close(served) })
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/chat/completions") {
					switch {
					case test.name == hanging:
						select {
						case <-served:
							t.Error("the run waited for what the server does not say")
						default:
						}
					case test.asked:
						<-served
					}
					chat.ServeHTTP(w, r)
					return
				}
				asked <- r.URL.Path
				test.tells(w, r)
				over()
			}))
			defer server.Close()
			var stdout, stderr bytes.Buffer
			a := bareApp(&stdout, &stderr)
			args := append([]string{"run", "-w", t.TempDir(), "--model", "m", "--base-url", server.URL + "/v1"}, test.flags...)
			code := a.run(t.Context(), append(args, "go"))
			if code != exitOK || stdout.String() != "All read.\n" {
				t.Errorf("exit code %d, stdout %q, stderr:\n%s", code, stdout.String(), stderr.String())
			}
			if (len(asked) > 0) != test.asked {
				t.Errorf("%d questions, want some: %t", len(asked), test.asked)
			}
			sessions, err := trajectory.List(state)
			if err != nil || len(sessions) != 1 {
				t.Fatalf("%d sessions, error %v", len(sessions), err)
			}
			manifest, err := sessions[0].Manifest()
			if err != nil || manifest.ContextWindow != test.window || manifest.ContextWindowFrom != test.from {
				t.Errorf("manifest %+v, error %v, want %d from %q", manifest, err, test.window, test.from)
			}
		})
	}
}

func TestFindWindow(t *testing.T) {
	for _, test := range []struct {
		name, provider, model string
		flag                  float64
		want                  knownWindow
	}{
		{"known", "openai", "gpt-4o", 0, knownWindow{128_000, "built-in"}},
		{"the flag first", "openai", "gpt-4o", 5000, knownWindow{5000, "flag"}},
		{"a server of one's own", "ollama", "qwen3", 0, knownWindow{}},
		{"given for it", "ollama", "qwen3", 32_768, knownWindow{32_768, "flag"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := provider.Named(test.provider)
			if err != nil {
				t.Fatal(err)
			}
			flags := modelFlags{contextWindow: test.flag}
			if got := flags.window(p, test.model); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}
