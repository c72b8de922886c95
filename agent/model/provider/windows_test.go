package provider_test

import (
	"os"
	"path"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/model/provider"
)

// TestWindow: what is known of a model is known by its name and its provider,
// and nothing is made up.
func TestWindow(t *testing.T) {
	for name, test := range map[string]struct {
		provider, model string
		want            int
	}{
		"by name":                              {"openai", "gpt-4o", 128_000},
		"dated":                                {"openai", "gpt-4o-2024-08-06", 128_000},
		"the prompt alone":                     {"openai", "gpt-5-mini", 272_000},
		"a smaller one of a kind":              {"openai", "gpt-5-chat-latest", 128_000},
		"the next minor":                       {"openai", "gpt-5.1-codex", 272_000},
		"a larger one":                         {"openai", "gpt-4.1-nano", 1_047_576},
		"a name that only begins":              {"openai", "gpt-4", 8_192},
		"a later model":                        {"openai", "gpt-9", 0},
		"somebody's own name":                  {"azure", "gpt-4o", 0},
		"a server of one's own":                {"ollama", "gpt-oss:20b", 0},
		"by another provider":                  {"generic", "gpt-4o", 0},
		"with the vendor":                      {"openrouter", "anthropic/claude-sonnet-4.5", 200_000},
		"without the vendor":                   {"openrouter", "claude-sonnet-4.5", 0},
		"as Google lists it":                   {"gemini", "models/gemini-2.5-pro", 1_000_000},
		"no name":                              {"openai", "", 0},
		"a fast one of a kind":                 {"openai", "gpt-5.3-codex-spark", 128_000},
		"the one beside it":                    {"openai", "gpt-5.3-codex", 272_000},
		"one that sees":                        {"glm", "glm-4.5v", 64_000},
		"one that does not":                    {"glm", "glm-4.5-air", 128_000},
		"one that draws":                       {"gemini", "gemini-2.5-flash-image-preview", 0},
		"one that speaks":                      {"gemini", "models/gemini-2.5-pro-preview-tts", 0},
		"one that clicks":                      {"gemini", "gemini-2.5-computer-use-preview-10-2025", 0},
		"one that draws, by way of another":    {"openrouter", "google/gemini-2.5-flash-image", 0},
		"one that does not, by way of another": {"openrouter", "google/gemini-2.5-flash", 1_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := provider.Named(test.provider)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Window(test.model); got != test.want {
				t.Errorf("%s takes %d, want %d", test.model, got, test.want)
			}
		})
	}
}

// TestWindowPatterns: each pattern is one, and each figure may be true.
func TestWindowPatterns(t *testing.T) {
	for _, p := range provider.Profiles() {
		for _, w := range p.Windows {
			if w.Tokens != 0 && w.Tokens < 8_000 || w.Tokens > 10_000_000 || len(w.Models) == 0 {
				t.Errorf("%s: the window %+v", p.Name, w)
			}
			for _, pattern := range w.Models {
				if _, err := path.Match(pattern, ""); err != nil {
					t.Errorf("%s: %q: %v", p.Name, pattern, err)
				}
			}
		}
	}
}

// TestSources: each place to ask is whole, and the docs name it.
func TestSources(t *testing.T) {
	data, err := os.ReadFile("../../../docs/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range provider.Profiles() {
		for _, s := range p.Sources {
			if s.Path == "" || len(s.Tokens) == 0 || (s.List == "") != (len(s.Names) == 0) {
				t.Errorf("%s: the source %+v lacks something", p.Name, s)
			}
			method := "GET"
			if s.Post {
				method = "POST"
			}
			for _, named := range append([]string{method + " " + s.Path}, append(s.Tokens, s.Most...)...) {
				if asked := strings.TrimPrefix(named, "parameters."); !strings.Contains(string(data), "`"+asked+"`") {
					t.Errorf("docs/providers.md does not name `%s` of %s", asked, p.Name)
				}
			}
		}
	}
}
