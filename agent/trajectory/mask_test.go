package trajectory_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/belljar/belljar/agent/trajectory"
	"github.com/google/go-cmp/cmp"
)

func TestMask(t *testing.T) {
	const key = `sk-Canary"0123/+<x>`
	inJSON, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		secrets    []string
		text, want string
	}{
		"plain":          {[]string{key}, "key=" + key + ".", "key=<secret-hidden>."},
		"in JSON":        {[]string{key}, `{"k":` + string(inJSON) + `}`, `{"k":"<secret-hidden>"}`},
		"in JSON, plain": {[]string{key}, `{"k":"sk-Canary\"0123/+<x>"}`, `{"k":"<secret-hidden>"}`},
		"in a URL":       {[]string{key}, "http://h/?k=sk-Canary%220123%2F%2B%3Cx%3E&a", "http://h/?k=<secret-hidden>&a"},
		"longest first":  {[]string{"12345678", "123456789"}, "123456789", "<secret-hidden>"},
		"twice":          {[]string{"12345678"}, "1234567812345678", "<secret-hidden><secret-hidden>"},
		"too short":      {[]string{"ollama"}, "ollama", "ollama"},
		"empty":          {[]string{""}, "abc", "abc"},
		"none":           {nil, "abc", "abc"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := trajectory.NewMasker(test.secrets...).Mask(test.text); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestMaskerReachesEveryString fills every string of every body with the key.
func TestMaskerReachesEveryString(t *testing.T) {
	const key = "sk-canary-0123456789"
	code := 1
	memory := &trajectory.Memory{}
	masked := trajectory.NewMasker(key).Wrap(memory)
	parts := []trajectory.Part{{Type: "text", Text: key}}
	result := trajectory.ToolResult{CallID: key, Name: key, Status: key, ExitCode: &code, Content: parts, Output: key}
	record(t, masked,
		trajectory.Start{Session: key, Task: key, Model: key, Image: trajectory.Image{Ref: key, ID: key, Digest: key}, Engine: key},
		trajectory.Message{Role: key, Text: key, Reasoning: key},
		trajectory.ToolCall{CallID: key, Name: key, Arguments: `{"k":"` + key + `"}`, Extra: `{"k":"` + key + `"}`, Origin: "http://" + key},
		result,
		trajectory.Notice{Kind: key, Text: key, Shortened: []trajectory.Shortened{{Calls: []string{key}}}},
		trajectory.End{Stop: key, Final: key},
		trajectory.Usage{Input: 7},
	)
	all, err := json.Marshal(memory.Events())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(all), key) {
		t.Errorf("the key is in the record: %s", all)
	}
	const hidden = trajectory.Hidden
	want := trajectory.ToolResult{
		CallID: hidden, Name: hidden, Status: hidden, ExitCode: &code,
		Content: []trajectory.Part{{Type: "text", Text: hidden}}, Output: hidden,
	}
	if diff := cmp.Diff(trajectory.Body(want), memory.Bodies()[3]); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if parts[0].Text != key {
		t.Error("the caller's event was changed")
	}
}
