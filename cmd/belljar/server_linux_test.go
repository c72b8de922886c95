package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRunAgainstServer runs the whole program against a model's server.
func TestRunAgainstServer(t *testing.T) {
	const key = "sk-canary-0123456789abcdef"
	for _, test := range []struct {
		name   string
		answer func(w http.ResponseWriter)
		code   int
		stdout string
		stderr string // a piece of it
	}{
		{
			name: "an answer",
			answer: func(w http.ResponseWriter) {
				w.Header().Set("Content-Type", "text/event-stream")
				for _, delta := range []string{`{"role":"assistant","content":"Hello "}`, `{"content":"there."}`} {
					fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", delta)
				}
				fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")
				fmt.Fprint(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1234,\"completion_tokens\":5,\"total_tokens\":1239}}\n\ndata: [DONE]\n\n")
			},
			code: 0, stdout: "Hello there.\n", stderr: "finished · 1 turn · 1,234 tokens in, 5 out",
		},
		{
			name: "a key that is refused",
			answer: func(w http.ResponseWriter) {
				w.WriteHeader(http.StatusUnauthorized)
				fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, key)
			},
			code: 6, stderr: "stopped: the model failed",
		},
		{
			name: "a filtered answer",
			answer: func(w http.ResponseWriter) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"content_filter\"}]}\n\ndata: [DONE]\n\n")
			},
			code: 5, stderr: "refused, or its answer was filtered",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Authorization"); got != "Bearer "+key {
					t.Errorf("the key was sent as %q", got)
				}
				_, _ = io.Copy(io.Discard, r.Body)
				test.answer(w)
			}))
			defer server.Close()
			state := t.TempDir()
			t.Setenv("BELLJAR_STATE_DIR", state)
			var stdout, stderr bytes.Buffer
			a := newApp(connectFake)
			a.stdin, a.stdout, a.stderr = strings.NewReader(""), &stdout, &stderr
			a.lookupEnv = func(name string) (string, bool) {
				value, ok := map[string]string{keyVariable: key, "OPENAI_BASE_URL": server.URL + "/v1", "BELLJAR_MODEL": "m1"}[name]
				return value, ok
			}
			code := a.run(t.Context(), []string{"run", "-w", t.TempDir(), "say hello"})
			if code != test.code || stdout.String() != test.stdout || !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("exit code %d, stdout %q, stderr:\n%s", code, stdout.String(), stderr.String())
			}
			if strings.Contains(stderr.String(), key) {
				t.Error("the key is on stderr")
			}
			checkNoKey(t, state, key)
		})
	}
}

// TestRunByProvider: the provider that is named shapes the requests and is on
// record, whatever the server's address says.
func TestRunByProvider(t *testing.T) {
	for name, want := range map[string]bool{"": true, "mistral": false} { // whether token counts are asked for
		var asked string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			asked = string(body)
			fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello.\"},\"finish_reason\":\"stop\"}]}\n\n")
		}))
		defer server.Close()
		state := t.TempDir()
		t.Setenv("BELLJAR_STATE_DIR", state)
		var stdout, stderr bytes.Buffer
		a := bareApp(&stdout, &stderr)
		args := []string{"run", "-w", t.TempDir(), "--model", "m1", "--base-url", server.URL + "/v1", "say hello"}
		if name != "" {
			args = append(args, "--provider", name)
		}
		if code := a.run(t.Context(), args); code != 0 {
			t.Fatalf("exit code %d, stderr:\n%s", code, stderr.String())
		}
		if got := strings.Contains(asked, "stream_options"); got != want {
			t.Errorf("provider %q: stream_options are there: %t, want %t", name, got, want)
		}
		manifests, err := filepath.Glob(filepath.Join(state, "*", "manifest.json"))
		if err != nil || len(manifests) != 1 {
			t.Fatalf("manifests %q, error %v", manifests, err)
		}
		data, err := os.ReadFile(manifests[0])
		if err != nil {
			t.Fatal(err)
		}
		if line := fmt.Sprintf("\"provider\": %q", cmp.Or(name, "generic")); !strings.Contains(string(data), line) {
			t.Errorf("the manifest has no %s:\n%s", line, data)
		}
	}
}

// TestAddressWithKey: a key in the address of the model's server is as secret as
// any, by the flag and by the variable, in answers, errors and the task.
func TestAddressWithKey(t *testing.T) {
	const key, version = "sk-canary+0123456789abcdef", "2024-10-21"
	for _, test := range []struct {
		name, base string // what stands before and after the host
		query      string
		status     int
		code       int
		stderr     string
	}{
		{"in an answer", "http://", "?api-key=" + url.QueryEscape(key) + "&api-version=" + version, 200, exitOK, "finished"},
		{"in an error", "http://", "?code=" + url.QueryEscape(key), 400, exitModel, "stopped: the model failed"},
		{"among words", "http://", "?tenant=since&code=" + url.QueryEscape(key), 200, exitOK, "finished"},
		{"without a name", "http://", "?" + url.QueryEscape(key), 400, exitModel, "stopped: the model failed"},
		{"as a password", "http://user:" + url.QueryEscape(key) + "@", "", 200, exitUsage, "holds a user name or password"},
	} {
		for _, flag := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, flag %t", test.name, flag), func(t *testing.T) {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					w.WriteHeader(test.status)
					if test.status != 200 {
						fmt.Fprintf(w, `{"error":{"message":"%s is wrong, and so is %s"}}`, key, r.URL)
						return
					}
					said := key + " or " + url.QueryEscape(key) + " since " + version
					fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":\"stop\"}]}\n\n", said)
				}))
				defer server.Close()
				state := t.TempDir()
				t.Setenv("BELLJAR_STATE_DIR", state)
				address := test.base + strings.TrimPrefix(server.URL, "http://") + "/v1" + test.query
				vars := map[string]string{"BELLJAR_MODEL": "m1"}
				args := []string{"run", "-w", t.TempDir(), "the key is " + key}
				if flag {
					args = append(args, "--base-url", address)
				} else {
					vars[addressVariable] = address
				}
				var stdout, stderr bytes.Buffer
				a := newApp(connectFake)
				a.stdin, a.stdout, a.stderr = strings.NewReader(""), &stdout, &stderr
				a.lookupEnv = func(name string) (string, bool) { value, ok := vars[name]; return value, ok }
				if code := a.run(t.Context(), args); code != test.code || !strings.Contains(stderr.String(), test.stderr) {
					t.Errorf("exit code %d, stderr:\n%s", code, stderr.String())
				}
				for _, said := range []string{key, url.QueryEscape(key)} {
					if text := stdout.String() + stderr.String(); strings.Contains(text, said) {
						t.Errorf("the key was shown:\n%s", text)
					}
					if test.code != exitUsage {
						checkNoKey(t, state, said)
					}
				}
				if test.code == exitOK && stdout.String() != "<secret-hidden> or <secret-hidden> since "+version+"\n" {
					t.Errorf("stdout %q", stdout.String())
				}
			})
		}
	}
}

// checkNoKey asserts that no file under a folder holds the key.
func checkNoKey(t *testing.T, dir, key string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), key) {
			t.Errorf("the key is in %s", path)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("looked into %d files: %v", files, err)
	}
}
