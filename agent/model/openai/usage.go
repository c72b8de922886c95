package openai

import (
	"encoding/json"
	"errors"

	"github.com/belljar/belljar/agent/model"
)

// usage is what a server says of the tokens of an answer. Servers differ in
// where they say how much of the input was kept from before.
type usage struct {
	Prompt, Completion, Total int
	Reasoning                 int // of Completion, or beyond it
	Cached                    int // of Prompt
}

// UnmarshalJSON never fails: the answer is good without its counts, so one that
// is not written as a number is none.
func (u *usage) UnmarshalJSON(data []byte) error {
	fields := object(data)
	count := func(fields map[string]json.RawMessage, name string) int {
		n, _ := number(fields[name])
		return n
	}
	prompt, completion := object(fields["prompt_tokens_details"]), object(fields["completion_tokens_details"])
	*u = usage{
		Prompt: count(fields, "prompt_tokens"), Completion: count(fields, "completion_tokens"), Total: count(fields, "total_tokens"),
		Reasoning: count(completion, "reasoning_tokens"),
		Cached: max(count(prompt, "cached_tokens"),
			count(fields, "prompt_cache_hit_tokens"), // DeepSeek
			count(fields, "cached_tokens")),          // Moonshot
	}
	return nil
}

// tokens is the usage in the form that all models have in common: what was
// kept is a part of the input, what was thought a part of the output. Some
// servers leave what was thought out of the completion and count it in the
// total alone; it is paid for all the same. Others count only what was not kept
// as the prompt: more that was kept than was sent proves it.
func (u usage) tokens() model.Usage {
	input, output := max(u.Prompt, 0), max(u.Completion, 0)
	cached := max(u.Cached, 0)
	if cached > input && input > 0 {
		input += cached
	}
	reasoning := max(u.Reasoning, 0)
	switch beyond := u.Total - input - output; {
	case beyond <= 0, input == 0:
	case reasoning == 0:
		output, reasoning = output+beyond, beyond
	case beyond >= reasoning:
		output += reasoning
	}
	return model.Usage{
		Input: input, Output: output, Reasoning: min(reasoning, output),
		Cached: min(cached, input),
	}
}

// spent adds to an error what the answer that it ended had used up.
func spent(err error, req model.Request, a *answer) error {
	var e *model.Error
	if !errors.As(err, &e) || a.size == 0 {
		return err
	}
	// The calls are left out: what came of them may not be whole.
	e.Usage = a.tokens(req, model.Response{Text: a.text.String(), Reasoning: a.reasoning.String()})
	return err
}

// tokens is the usage of an answer as far as it came: what was counted, or an
// estimate where the server counts nothing or has not come to it yet.
func (a *answer) tokens(req model.Request, resp model.Response) model.Usage {
	var counted model.Usage
	if a.usage != nil {
		counted = a.usage.tokens()
	}
	if counted.Output > 0 {
		return counted
	}
	guess := model.EstimateUsage(req, resp)
	switch {
	case counted.Input == 0:
		return guess
	case guess.Output > 0: // counts of the input alone, as they come with a first event
		counted.Output, counted.Estimated = guess.Output, true
	}
	return counted
}
