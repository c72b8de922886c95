package openai

import (
	"regexp"
	"strconv"
	"strings"
)

// mostTokens is the largest figure that is believed to be a number of tokens.
const mostTokens = 100_000_000

// overflow reads from a refusal as too long what a prompt may have and what this
// one has, in tokens; 0 is not said. Servers word it in many ways, so what does
// not add up is not believed: a wrong figure would be worse than none.
func overflow(said string) (limit, size int) {
	said = strings.ToLower(said)
	limit, size = figure(said, limits()), figure(said, sizes())
	answer := figure(said, answers())
	switch {
	case limit == 0:
		return 0, size
	case limit <= answer:
		return 0, 0
	}
	limit -= answer // it is taken from what the prompt may have
	if size <= limit {
		size = 0
	}
	return limit, size
}

// figure is the number that the first of the patterns finds, or 0.
func figure(said string, patterns []string) int {
	for _, pattern := range patterns {
		found := regexp.MustCompile(strings.ReplaceAll(pattern, "N", `([0-9][0-9,]*)`)).FindStringSubmatch(said)
		if found == nil {
			continue
		}
		n, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", ""))
		if err == nil && n > 0 && n <= mostTokens {
			return n
		}
	}
	return 0
}

// limits are the ways to say what a model takes.
func limits() []string {
	return []string{
		`maximum (?:context|prompt|model|input) length (?:is|of) (?:only )?N`, // OpenAI, vLLM, DeepSeek, OpenRouter, xAI
		`context length (?:is|of) (?:only )?N`,                                // LM Studio
		`context (?:length|size|window) \(N`,                                  // llama.cpp, SGLang
		`"n_ctx": ?N`,                                                         // llama.cpp
		`configured limit of N tokens`,                                        // OpenAI
		`exceed context limit: [0-9]+ \+ [0-9]+ > N`,                          // Anthropic, with the answer
		`tokens > N maximum`,                                                  // Anthropic
		`maximum number of tokens allowed,? \(N`,                              // Gemini
		`with N maximum context length`,                                       // Mistral
		`limit N, requested`,                                                  // Groq
		`model token limit: N`,                                                // Kimi
		`input length should be \[[0-9]+, ?N\]`,                               // Qwen
		`exceeds the limit of N`,                                              // Copilot
	}
}

// sizes are the ways to say what a prompt has.
func sizes() []string {
	return []string{
		`messages resulted in N tokens`,
		`\(N (?:tokens )?(?:in|from) the (?:input )?messages`, // before what was requested, answer included
		`: N tokens from the input messages`,
		`your request has N input tokens`,
		`requested about N tokens`,
		`prompt is too long: N tokens`,
		`"n_prompt_tokens": ?N`,
		`(?:request|input) \(N tokens\)`,
		`input token count \(N\)`,
		`prompt contains N tokens`,
		`request contains N tokens`,
		`prompt token count of N`,
		`the first N tokens when context`,
		`limit: [0-9]+ \(requested: N`,
		`limit [0-9]+, requested N`,
		`prompt \(length N\)`,
		`exceed context limit: N \+`,
	}
}

// answers are the ways to say what is kept free for the answer.
func answers() []string {
	return []string{
		`N (?:tokens )?(?:in|for) the completion`,
		`exceed context limit: [0-9]+ \+ N >`,
	}
}
