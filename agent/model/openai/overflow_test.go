package openai

import "testing"

// TestOverflow: the figures that servers name are read, each in its words, and
// none is made up.
func TestOverflow(t *testing.T) {
	for name, test := range map[string]struct {
		said        string
		limit, size int
	}{
		"OpenAI":                 {"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.", 8192, 9001},
		"OpenAI, with functions": {"This model's maximum context length is 128000 tokens. However, your messages resulted in 129013 tokens (128000 in the messages, 1013 in the functions).", 128000, 129013},
		"OpenAI, with an answer": {"This model's maximum context length is 4097 tokens, however you requested 5000 tokens (3000 in the messages, 2000 in the completion).", 2097, 3000},
		"OpenAI, configured":     {"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300027 tokens.", 272000, 300027},
		"OpenAI, no figure":      {"Your input exceeds the context window of this model. Please adjust your input and try again.", 0, 0},
		"vLLM":                   {"This model's maximum context length is 8192 tokens. However, your request has 9001 input tokens. Please reduce the length of the input messages.", 8192, 9001},
		"vLLM, old":              {"The decoder prompt (length 9001) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller", 8192, 9001},
		"llama.cpp":              {`{"error":{"code":400,"message":"request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9001,"n_ctx":8192}}`, 8192, 9001},
		"llama.cpp, old":         {`{"error":{"message":"the request exceeds the available context size, try increasing it","n_prompt_tokens": 9001, "n_ctx": 8192}}`, 8192, 9001},
		"llama.cpp, no figure":   {"the request exceeds the available context size", 0, 0},
		"LM Studio":              {"Trying to keep the first 9001 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough", 4096, 9001},
		"Anthropic":              {"prompt is too long: 210000 tokens > 200000 maximum", 200000, 210000},
		"Anthropic, answer":      {"input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease input length or `max_tokens` and try again", 178667, 190000},
		"Gemini":                 {"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1048576, 1200000},
		"Gemini, no limit":       {"The input token count (9) exceeds the maximum number of tokens allowed", 0, 9},
		"Mistral":                {"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 32768, 40000},
		"Groq":                   {"Request too large for model `m` in organization `o` on tokens per minute (TPM): Limit 6000, Requested 9123, please reduce your message size and try again.", 6000, 9123},
		"Kimi":                   {"Invalid request: Your request exceeded model token limit: 262144 (requested: 270000)", 262144, 270000},
		"Qwen":                   {"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]", 129024, 0},
		"OpenRouter":             {"This endpoint's maximum context length is 200000 tokens. However, you requested about 210000 tokens (205000 of text input, 5000 of tool input).", 200000, 210000},
		"SGLang":                 {"The input (9001 tokens) is longer than the model's context length (8192 tokens).", 8192, 9001},
		"SGLang, with an answer": {"Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9001 tokens: 5000 tokens from the input messages and 4001 tokens for the completion.", 4191, 5000},
		"xAI":                    {"This model's maximum prompt length is 131072 but the request contains 150000 tokens.", 131072, 150000},
		"Copilot":                {"prompt token count of 140000 exceeds the limit of 128000", 128000, 140000},
		"Ollama, by how much":    {"prompt too long; exceeded max context length by 1234 tokens", 0, 0},
		"commas":                 {"maximum context length is 8,192 tokens", 8192, 0},
		"too many digits":        {"maximum context length is 99999999999999999999 tokens", 0, 0},
		"absurd":                 {"maximum context length is 999999999999 tokens", 0, 0},
		"a size that fits":       {"This model's maximum context length is 8192 tokens. However, your messages resulted in 12 tokens.", 8192, 0},
		"an answer alone":        {"maximum context length is 2000 tokens, however you requested 5000 tokens (3000 in the messages, 2000 in the completion)", 0, 0},
		"nothing":                {"", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if limit, size := overflow(test.said); limit != test.limit || size != test.size {
				t.Errorf("read %d and %d, want %d and %d", limit, size, test.limit, test.size)
			}
		})
	}
}
