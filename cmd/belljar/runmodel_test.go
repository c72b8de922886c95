package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/model/openai"
	"github.com/belljar/belljar/agent/model/provider"
)

// TestServerToAsk: what is named by a flag goes before the environment, so that
// neither a task nor a key goes to a server that nobody named.
func TestServerToAsk(t *testing.T) {
	const local = "http://localhost:11434/v1"
	profile := func(name string) provider.Profile {
		t.Helper()
		p, err := provider.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	tests := map[string]struct {
		flags       modelFlags
		variable    string // OPENAI_BASE_URL
		address, by string
	}{
		"nothing":                          {modelFlags{}, "", openai.DefaultBaseURL, "openai"},
		"the variable":                     {modelFlags{}, local, local, "ollama"},
		"the address":                      {modelFlags{baseURL: "https://api.deepseek.com"}, local, "https://api.deepseek.com", "deepseek"},
		"the provider":                     {modelFlags{provider: "deepseek"}, "", profile("deepseek").BaseURL, "deepseek"},
		"the provider before the variable": {modelFlags{provider: "deepseek"}, local, profile("deepseek").BaseURL, "deepseek"},
		"openai before the variable":       {modelFlags{provider: "openai"}, local, openai.DefaultBaseURL, "openai"},
		"a program of one's own":           {modelFlags{provider: "vllm"}, "http://gpu.example/v1", "http://gpu.example/v1", "vllm"},
		"both flags":                       {modelFlags{provider: "deepseek", baseURL: "http://here/v1"}, local, "http://here/v1", "deepseek"},
		"a provider without an address":    {modelFlags{provider: "generic"}, local, local, "generic"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := newApp(connectFake)
			a.lookupEnv = func(name string) (string, bool) {
				value, ok := map[string]string{keyVariable: "sk-1", "OPENAI_BASE_URL": test.variable}[name]
				return value, ok
			}
			opts, err := a.clientOptions(&test.flags)
			if err != nil || opts.BaseURL != test.address || opts.Provider.Name != test.by {
				t.Errorf("%q by %q and error %v, want %q by %q", opts.BaseURL, opts.Provider.Name, err, test.address, test.by)
			}
		})
	}
}

// TestScriptWithWrongFlags: what is wrong with a model of a server is wrong with
// scripted answers, though those use none of it.
func TestScriptWithWrongFlags(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.json")
	tests := map[string]struct {
		flags    modelFlags
		prices   string // --prices
		variable string // BELLJAR_PRICES
		says     string // "" is no error
	}{
		"none":               {},
		"a provider":         {flags: modelFlags{provider: "deepseek"}},
		"wrong provider":     {flags: modelFlags{provider: "nonsense"}, says: `the provider "nonsense" is not known`},
		"missing prices":     {prices: missing, says: missing},
		"missing by default": {variable: missing, says: missing},
		"wrong address":      {flags: modelFlags{baseURL: "localhost:11434/v1"}, says: "base url"},
	}
	for _, chosen := range []string{"script:demo", "some-model"} {
		for name, test := range tests {
			t.Run(chosen+" "+name, func(t *testing.T) {
				a := newApp(connectFake)
				a.lookupEnv = func(name string) (string, bool) {
					value, ok := map[string]string{keyVariable: "sk-1", "BELLJAR_PRICES": test.variable}[name]
					return value, ok
				}
				test.flags.model = chosen
				_, err := a.chooseModel(&test.flags, test.prices)
				var usage *usageError
				if test.says == "" {
					if err != nil {
						t.Error(err)
					}
				} else if !errors.As(err, &usage) || !strings.Contains(err.Error(), test.says) {
					t.Errorf("error %v, want a wrong usage with %q", err, test.says)
				}
			})
		}
	}
}
