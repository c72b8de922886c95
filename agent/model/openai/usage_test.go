package openai

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/belljar/belljar/agent/model"
)

func TestUsageTokens(t *testing.T) {
	for name, test := range map[string]struct {
		sent string
		want model.Usage
	}{
		"plain":                 {`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}`, model.Usage{Input: 10, Output: 5}},
		"no total":              {`{"prompt_tokens":10,"completion_tokens":5}`, model.Usage{Input: 10, Output: 5}},
		"cached":                {`{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":8}}`, model.Usage{Input: 10, Output: 5, Cached: 8}},
		"cached, DeepSeek":      {`{"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":8}`, model.Usage{Input: 10, Output: 5, Cached: 8}},
		"cached, Moonshot":      {`{"prompt_tokens":10,"completion_tokens":5,"cached_tokens":8}`, model.Usage{Input: 10, Output: 5, Cached: 8}},
		"cached, left out":      {`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":95,"cached_tokens":80}`, model.Usage{Input: 90, Output: 5, Cached: 80}},
		"cached, no input":      {`{"prompt_tokens":0,"completion_tokens":5,"cached_tokens":80}`, model.Usage{Output: 5}},
		"thought":               {`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"completion_tokens_details":{"reasoning_tokens":3}}`, model.Usage{Input: 10, Output: 5, Reasoning: 3}},
		"thought, left out":     {`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":115,"completion_tokens_details":{"reasoning_tokens":100}}`, model.Usage{Input: 10, Output: 105, Reasoning: 100}},
		"thought, not named":    {`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":115}`, model.Usage{Input: 10, Output: 105, Reasoning: 100}},
		"details that are null": {`{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":null,"completion_tokens_details":null}`, model.Usage{Input: 10, Output: 5}},
		"below nought":          {`{"prompt_tokens":-10,"completion_tokens":-5,"cached_tokens":-1}`, model.Usage{}},
		"fractions and texts":   {`{"prompt_tokens":10.0,"completion_tokens":"5","prompt_tokens_details":{"cached_tokens":"8"}}`, model.Usage{Input: 10, Output: 5, Cached: 8}},
		"no numbers":            {`{"prompt_tokens":[],"completion_tokens":{},"total_tokens":true,"prompt_tokens_details":[],"completion_tokens_details":7}`, model.Usage{}},
		"no object":             {`"none"`, model.Usage{}},
		"beyond all":            {`{"prompt_tokens":1e300,"completion_tokens":5}`, model.Usage{Output: 5}},
		"a total alone":         {`{"total_tokens":15}`, model.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			var u usage
			if err := json.Unmarshal([]byte(test.sent), &u); err != nil {
				t.Fatal(err)
			}
			if got := u.tokens(); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}

// An answer that was cut has been paid for as far as it came.
func TestSpent(t *testing.T) {
	req := model.Request{System: "12345678"}
	begun, counted := &answer{size: 9}, &answer{size: 9, usage: &usage{Prompt: 100, Completion: 7}}
	zeros, input := &answer{size: 9, usage: &usage{}}, &answer{size: 9, usage: &usage{Prompt: 100}}
	for _, a := range []*answer{begun, zeros, input} {
		a.text.WriteString("1234")
	}
	for name, test := range map[string]struct {
		a    *answer
		want model.Usage
	}{
		"none had begun":          {&answer{}, model.Usage{}},
		"estimated":               {begun, model.Usage{Input: 2, Output: 1, Estimated: true}},
		"counts of nought":        {zeros, model.Usage{Input: 2, Output: 1, Estimated: true}},
		"input alone":             {input, model.Usage{Input: 100, Output: 1, Estimated: true}},
		"input, and nothing came": {&answer{size: 9, usage: &usage{Prompt: 100}}, model.Usage{Input: 100}},
		"counted":                 {counted, model.Usage{Input: 100, Output: 7}},
	} {
		t.Run(name, func(t *testing.T) {
			var e *model.Error
			if err := spent(model.Errorf(model.Cut, "cut"), req, test.a); !errors.As(err, &e) || e.Usage != test.want {
				t.Errorf("%+v, want %+v", e.Usage, test.want)
			}
		})
	}
	if err := errors.New("other"); spent(err, req, begun) != err {
		t.Error("another error was changed")
	}
}
