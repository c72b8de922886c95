package openai_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belljar/belljar/agent/model/openai"
	"github.com/belljar/belljar/internal/leaktest"
	"github.com/google/go-cmp/cmp"
)

// A teller is a server that tells of its models, by path, and remembers what it
// was asked.
type teller struct {
	answers map[string]string
	mu      sync.Mutex
	asked   []string
	keys    []string
}

func (s *teller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.URL.String()+" "+string(body)))
	s.keys = append(s.keys, r.Header.Get("Authorization"))
	s.mu.Unlock()
	answer, ok := s.answers[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = io.WriteString(w, answer)
}

const (
	vllmModels = `{"object":"list","data":[{"id":"other","max_model_len":4096},
		{"id":"test-model","object":"model","owned_by":"vllm","root":"r","parent":null,"max_model_len":32768}]}`
	llamaProps  = `{"default_generation_settings":{"id":0,"params":{"n_predict":-1},"n_ctx":16384},"total_slots":2,"model_path":"m.gguf"}`
	llamaModels = `{"object":"list","data":[{"id":"test-model","meta":{"n_ctx":24576,"n_ctx_train":131072}}]}`
	lmModels    = `{"object":"list","data":[{"id":"test-model","state":"loaded","max_context_length":131072,"loaded_context_length":8192}]}`
	lmUnloaded  = `{"object":"list","data":[{"id":"test-model","state":"not-loaded","max_context_length":131072}]}`
	ollamaShow  = `{"parameters":"stop                           \"<|im_end|>\"\nnum_ctx                        40960\ntemperature 0.6",
		"model_info":{"general.architecture":"qwen3","qwen3.context_length":262144}}`
	ollamaMore  = `{"parameters":"num_ctx 40960","model_info":{"a.rope.context_length":1,"context_length":2,"llama.context_length":8192}}`
	ollamaPlain = `{"parameters":"stop \"<|im_end|>\"","model_info":{"qwen3.context_length":262144}}`
	ollamaPs    = `{"models":[{"name":"x:latest","model":"x:latest","context_length":2048},
		{"name":"test-model:latest","model":"test-model:latest","size":1,"context_length":12288}]}`
	routerModels = `{"data":[{"id":"test-model","context_length":262144,"top_provider":{"context_length":131072,"max_completion_tokens":null}}]}`
)

// TestAskWindow: what is in force is taken from the place where each server
// tells it, and the most that a model could take is not.
func TestAskWindow(t *testing.T) {
	show := `POST /api/show {"model":"test-model"}`
	tests := map[string]struct {
		provider string
		answers  map[string]string
		want     int // 0 is an error
		asked    []string
	}{
		"vllm":                     {"vllm", map[string]string{"/v1/models": vllmModels}, 32768, []string{"GET /v1/models"}},
		"an adapter of vllm":       {"vllm", map[string]string{"/v1/models": `{"data":[{"id":"test-model","max_model_len":null}]}`}, 0, []string{"GET /v1/models"}},
		"llama.cpp":                {"llama.cpp", map[string]string{"/props": llamaProps}, 16384, []string{"GET /props?autoload=false&model=test-model"}},
		"llama.cpp, older":         {"llama.cpp", map[string]string{"/props": `{"n_ctx":4096}`}, 4096, []string{"GET /props?autoload=false&model=test-model"}},
		"llama.cpp, elsewhere":     {"llama.cpp", map[string]string{"/v1/props": llamaProps}, 16384, []string{"GET /props?autoload=false&model=test-model", "GET /v1/props?autoload=false&model=test-model"}},
		"before several llama.cpp": {"llama.cpp", map[string]string{"/v1/models": llamaModels}, 24576, []string{"GET /props?autoload=false&model=test-model", "GET /v1/props?autoload=false&model=test-model", "GET /v1/models"}},
		"lmstudio":                 {"lmstudio", map[string]string{"/api/v0/models": lmModels}, 8192, []string{"GET /api/v0/models"}},
		"lmstudio, not loaded":     {"lmstudio", map[string]string{"/api/v0/models": lmUnloaded}, 0, []string{"GET /api/v0/models"}},
		"ollama, set in the model": {"ollama", map[string]string{"/api/show": ollamaShow, "/api/ps": ollamaPs}, 40960, []string{show}},
		"ollama, more than it can": {"ollama", map[string]string{"/api/show": ollamaMore}, 8192, []string{show}},
		"ollama, as it is loaded":  {"ollama", map[string]string{"/api/show": ollamaPlain, "/api/ps": ollamaPs}, 12288, []string{show, "GET /api/ps"}},
		"ollama, not loaded":       {"ollama", map[string]string{"/api/show": ollamaPlain, "/api/ps": `{"models":[]}`}, 0, []string{show, "GET /api/ps"}},
		"openrouter":               {"openrouter", map[string]string{"/v1/models": routerModels}, 131072, []string{"GET /v1/models"}},
		"openrouter, unknown":      {"openrouter", map[string]string{"/v1/models": `{"data":[{"id":"test-model:free","context_length":1}]}`}, 0, []string{"GET /v1/models"}},
		"kimi":                     {"kimi", map[string]string{"/v1/models": `{"data":[{"id":"test-model","context_length":262144}]}`}, 262144, []string{"GET /v1/models"}},
		"groq":                     {"groq", map[string]string{"/v1/models": `{"data":[{"id":"test-model","context_window":131072}]}`}, 131072, []string{"GET /v1/models"}},
		"generic":                  {"generic", map[string]string{"/v1/models": vllmModels}, 0, nil},
		"openai":                   {"openai", map[string]string{"/v1/models": vllmModels}, 0, nil},

		"a web page":       {"vllm", map[string]string{"/v1/models": "<html>"}, 0, []string{"GET /v1/models"}},
		"nothing":          {"vllm", map[string]string{"/v1/models": ""}, 0, []string{"GET /v1/models"}},
		"a number as text": {"vllm", map[string]string{"/v1/models": `{"data":[{"id":"test-model","max_model_len":"32768"}]}`}, 0, []string{"GET /v1/models"}},
		"a broken number":  {"vllm", map[string]string{"/v1/models": `{"data":[{"id":"test-model","max_model_len":0.5}]}`}, 0, []string{"GET /v1/models"}},
		"a negative one":   {"vllm", map[string]string{"/v1/models": `{"data":[{"id":"test-model","max_model_len":-1}]}`}, 0, []string{"GET /v1/models"}},
		"an absurd one":    {"vllm", map[string]string{"/v1/models": `{"data":[{"id":"test-model","max_model_len":1e300}]}`}, 0, []string{"GET /v1/models"}},
		"another shape":    {"vllm", map[string]string{"/v1/models": `[{"data":7}]`}, 0, []string{"GET /v1/models"}},
		"too long":         {"vllm", map[string]string{"/v1/models": `{"x":"` + strings.Repeat("x", 9<<20) + `"}`}, 0, []string{"GET /v1/models"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &teller{answers: test.answers}
			c := newClient(t, s.ServeHTTP, by(t, test.provider))
			got, err := c.AskWindow(t.Context())
			if got.Tokens != test.want || (err == nil) != (test.want > 0) {
				t.Errorf("%+v and error %v, want %d tokens", got, err, test.want)
			}
			if got.Passing != (name == "ollama, as it is loaded") {
				t.Errorf("passing: %t", got.Passing)
			}
			if diff := cmp.Diff(test.asked, s.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			for _, key := range s.keys {
				if key != "Bearer "+testKey {
					t.Errorf("asked with the key %q", key)
				}
			}
		})
	}
}

// TestAskWindowBelow: what stands in front of a server's own paths, and the
// query of its address, stay.
func TestAskWindowBelow(t *testing.T) {
	for base, want := range map[string]string{
		"/v1":            "POST /api/show",
		"/ollama/v1/":    "POST /ollama/api/show",
		"/v1?tenant=a+b": "POST /api/show?tenant=a+b",
		"":               "POST /api/show",
		"/v1beta":        "POST /v1beta/api/show",
	} {
		s := &teller{}
		c := newClient(t, s.ServeHTTP, by(t, "ollama"), func(o *openai.Options) { o.BaseURL = strings.TrimSuffix(o.BaseURL, "/v1") + base })
		if _, err := c.AskWindow(t.Context()); err == nil || strings.Contains(err.Error(), testKey) {
			t.Errorf("error %v", err)
		}
		if len(s.asked) == 0 || !strings.HasPrefix(s.asked[0], want+" {") {
			t.Errorf("below %q %q was asked, want %q first", base, s.asked, want)
		}
	}
}

// TestAskWindowEnds: a server that hangs is not waited for longer than the
// caller waits, wherever it hangs, and leaves nothing behind.
func TestAskWindowEnds(t *testing.T) {
	leaktest.Check(t, 0)
	for name, begin := range map[string]string{"before the answer": "", "in the answer": `{"data":[`} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
				if begin != "" {
					_, _ = io.WriteString(w, begin)
					w.(http.Flusher).Flush()
				}
				<-r.Context().Done()
			}, by(t, "vllm"))
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if window, err := c.AskWindow(ctx); err == nil {
				t.Errorf("%+v and no error", window)
			}
		})
	}
}

// TestAskWindowHidesKeys: an error of it holds no key, wherever the key is.
func TestAskWindowHidesKeys(t *testing.T) {
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "https://else.example/?"+r.URL.RawQuery)
		w.WriteHeader(http.StatusFound)
	}, by(t, "vllm"), func(o *openai.Options) { o.BaseURL += "?code=" + testKey })
	_, err := c.AskWindow(t.Context())
	data, _ := json.Marshal(err.Error())
	if strings.Contains(string(data), testKey) {
		t.Errorf("error %s", data)
	}
}
