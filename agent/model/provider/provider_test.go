package provider_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/model/provider"
)

func TestAt(t *testing.T) {
	tests := map[string]string{
		"https://api.openai.com/v1":                                       "openai",
		"https://API.OpenAI.com./v1":                                      "openai",
		"https://api.openai.com:443/v1":                                   "openai",
		"https://mine.openai.azure.com/openai/v1":                         "azure",
		"https://mine.openai.azure.com/openai/deployments/d":              "azure",
		"https://api.deepseek.com":                                        "deepseek",
		"https://dashscope.aliyuncs.com/compatible-mode/v1":               "qwen",
		"https://w1.cn-beijing.maas.aliyuncs.com/compatible-mode/v1":      "qwen",
		"https://api.moonshot.cn/v1":                                      "kimi",
		"https://api.z.ai/api/coding/paas/v4":                             "glm",
		"https://open.bigmodel.cn/api/paas/v4":                            "glm",
		"https://api.mistral.ai/v1":                                       "mistral",
		"https://generativelanguage.googleapis.com/v1beta/openai/":        "gemini",
		"https://us-central1-aiplatform.googleapis.com/v1/endpoints/open": "gemini",
		"https://api.anthropic.com/v1/":                                   "anthropic",
		"https://openrouter.ai/api/v1":                                    "openrouter",
		"https://api.groq.com/openai/v1":                                  "groq",
		"http://localhost:11434/v1":                                       "ollama",
		"http://[::1]:11434/v1":                                           "ollama",
		"http://10.0.0.5:1234/v1":                                         "lmstudio",

		"http://localhost:8000/v1":                      "generic",
		"http://localhost:8080/v1":                      "generic",
		"http://localhost/v1":                           "generic",
		"https://api.openai.com.evil.example/v1":        "generic",
		"https://evil.example/api.openai.com":           "generic",
		"https://notapi.openai.com.example/v1":          "generic",
		"https://xapi.openai.com/v1":                    "generic",
		"https://openai.azure.com/v1":                   "generic",
		"https://api.openai.com@evil.example/v1":        "generic",
		"https://evil.example/?u=https://api.groq.com/": "generic",
		"":      "generic",
		"%zz":   "generic",
		"a b c": "generic",
	}
	for url, want := range tests {
		if got := provider.At(url).Name; got != want {
			t.Errorf("at %s is %s, want %s", url, got, want)
		}
	}
}

// TestProfiles: each can be had by its name and by its own address, has every
// rule, and is nobody's to change.
func TestProfiles(t *testing.T) {
	ports := []string{"vllm", "llama.cpp", "generic"} // whose ports are everybody's
	for _, p := range provider.Profiles() {
		named, err := provider.Named(p.Name)
		if err != nil || named.Rules != p.Rules {
			t.Errorf("%s by name is %+v, error %v", p.Name, named, err)
		}
		if at := provider.At(p.BaseURL); p.BaseURL != "" && at.Name != p.Name && !slices.Contains(ports, p.Name) {
			t.Errorf("the address of %s is that of %s", p.Name, at.Name)
		}
		if p.Content == "" || p.IDs == "" || p.System == "" || p.Calls == "" || p.MaxTokens == "" {
			t.Errorf("%s lacks a rule: %+v", p.Name, p.Rules)
		}
		if p.ReasoningAlways && p.Reasoning == "" {
			t.Errorf("%s always sends reasoning in no field", p.Name)
		}
		if other := provider.OtherMaxTokens(p.MaxTokens); other == p.MaxTokens || provider.OtherMaxTokens(other) != p.MaxTokens {
			t.Errorf("%s: the other name of %s is %s", p.Name, p.MaxTokens, other)
		}
	}
	provider.Profiles()[0].Hosts[0] = "evil.example"
	if provider.At("https://evil.example/").Name != "generic" {
		t.Error("a caller has changed a profile")
	}
	names := provider.Names()
	slices.Sort(names)
	if len(slices.Compact(names)) != len(provider.Profiles()) {
		t.Errorf("names are there twice: %q", names)
	}
	if _, err := provider.Named("no-such"); err == nil || !strings.Contains(err.Error(), "mistral") {
		t.Errorf("error %v, want one that names the providers", err)
	}
}

// TestDocs: docs/providers.md has a row for each profile, with its rules.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile("../../../docs/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range provider.Profiles() {
		if row := tableRow(p); !strings.Contains(string(data), row+"\n") {
			t.Errorf("docs/providers.md has no line\n%s", row)
		}
		if row := endRow(p); !strings.Contains(string(data), row+"\n") {
			t.Errorf("docs/providers.md has no line\n%s", row)
		}
	}
}

// endRow is what is believed of a provider's streams as the docs have it.
func endRow(p provider.Profile) string {
	end, idle := "taken for cut", "3 min"
	if p.NoReason {
		end = "believed the second time"
	}
	if p.Idle > 0 {
		idle = fmt.Sprintf("%.0f min", p.Idle.Minutes())
	}
	return "| `" + p.Name + "` | " + end + " | " + idle + " |"
}

// tableRow is a profile as the table of the docs has it.
func tableRow(p provider.Profile) string {
	yes := map[bool]string{true: "yes", false: "no"}
	reasoning := "dropped"
	if p.Reasoning != "" {
		reasoning = "`" + p.Reasoning + "`"
	}
	if p.ReasoningAlways {
		reasoning += ", always"
	}
	ids := map[provider.IDs]string{
		provider.IDsAny: "as they came", provider.IDsShort: "≤ 40 of `A-Za-z0-9_-`", provider.IDsNine: "9 of `A-Za-z0-9`",
	}
	content := map[provider.Content]string{provider.ContentNull: "`null`", provider.ContentEmpty: "`\"\"`"}
	calls := map[provider.Calls]string{provider.CallsDefault: "–", provider.CallsAsked: "asked for", provider.CallsSingle: "one by one"}
	return "| " + strings.Join([]string{
		"`" + p.Name + "`", content[p.Content], reasoning, ids[p.IDs], yes[p.Bridge], yes[p.Usage], "`" + p.MaxTokens + "`", calls[p.Calls], yes[p.Images],
	}, " | ") + " |"
}
