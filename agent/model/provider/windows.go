package provider

import "path"

// A Window is how much some models of a provider take.
type Window struct {
	// Models are patterns of names, as for path.Match.
	Models []string
	// Tokens are what prompt and answer may have together, or what the prompt
	// may have where the provider gives that a bound of its own. Where sources
	// differ it is the least of them. 0 is not known, of models that a wider
	// pattern after this one would take in.
	Tokens int
}

// Window is the number of tokens that a model takes, or 0 where it is not
// known. It never is where whoever runs the server decides.
func (p Profile) Window(model string) int {
	for _, w := range p.Windows {
		for _, pattern := range w.Models {
			if ok, _ := path.Match(pattern, model); ok { // a test checks the patterns
				return w.Tokens
			}
		}
	}
	return 0
}

// windows are those of a provider's models. The first pattern that fits counts.
// They are from what the providers say of their models, and from lists of
// others, as of November 2026; docs/providers.md says more.
func windows(name string) []Window {
	switch name {
	case "openai":
		return []Window{
			{[]string{"gpt-5-chat*", "gpt-5.?-chat*", "gpt-4o*", "chatgpt-4o*", "gpt-4-turbo*"}, 128_000},
			{[]string{"gpt-5.3-codex-spark*"}, 128_000},
			{[]string{"gpt-5.4-mini*", "gpt-5.4-nano*"}, 272_000},
			{[]string{"gpt-5.4", "gpt-5.4-20*", "gpt-5.5", "gpt-5.5-20*"}, 922_000}, // 1,050,000 less 128,000 for the answer
			{[]string{"gpt-5", "gpt-5-*", "gpt-5.[123]", "gpt-5.[123]-*"}, 272_000}, // 400,000 less 128,000 for the answer
			{[]string{"gpt-4.1*"}, 1_047_576},
			{[]string{"gpt-4", "gpt-4-0613"}, 8_192},
			{[]string{"gpt-3.5-turbo*"}, 16_385},
			{[]string{"o1", "o1-20*", "o3*", "o4-mini*"}, 200_000},
		}
	case "deepseek":
		return []Window{{[]string{"deepseek-chat", "deepseek-reasoner"}, 128_000}}
	case "qwen":
		return []Window{
			{[]string{"qwen-max*"}, 32_768},
			{[]string{"qwen-plus*"}, 131_072},
			{[]string{"qwen3-max*"}, 256_000},
			{[]string{"qwen3-coder-plus*", "qwen3-coder-flash*"}, 1_000_000},
		}
	case "kimi":
		return []Window{
			{[]string{"moonshot-v1-8k*"}, 8_192},
			{[]string{"moonshot-v1-32k*"}, 32_768},
			{[]string{"moonshot-v1-128k*", "kimi-k2-0711-preview"}, 131_072},
			{[]string{"kimi-k2-0905-preview", "kimi-k2-turbo-preview", "kimi-k2-thinking*", "kimi-k2.5"}, 262_144},
		}
	case "glm":
		return []Window{
			{[]string{"glm-4.5v*"}, 64_000},
			{[]string{"glm-4.5*"}, 128_000},
			{[]string{"glm-4.6", "glm-4.7*", "glm-5"}, 200_000},
		}
	case "mistral":
		return []Window{{[]string{"mistral-large-*", "mistral-medium-*", "mistral-small-*", "devstral-*"}, 128_000}}
	case "gemini":
		return []Window{
			{apart("", "models/"), 0},
			{[]string{"gemini-2.[05]-*", "models/gemini-2.[05]-*", "gemini-3*", "models/gemini-3*"}, 1_000_000},
		}
	case "anthropic":
		return []Window{{[]string{"claude-*"}, 200_000}}
	case "openrouter":
		return []Window{
			{[]string{"anthropic/claude-*"}, 200_000},
			{[]string{"openai/gpt-4o*"}, 128_000},
			{[]string{"openai/gpt-5", "openai/gpt-5-mini", "openai/gpt-5-nano", "openai/gpt-5-codex", "openai/gpt-5.[12]"}, 272_000},
			{apart("google/"), 0},
			{[]string{"google/gemini-2.5-*"}, 1_000_000},
		}
	case "groq":
		return []Window{
			{[]string{"llama-3.3-70b-versatile", "llama-3.1-8b-instant", "openai/gpt-oss-*", "qwen/qwen3-32b"}, 131_072},
		}
	default: // Azure's names are its users' own, and local servers have what they were started with
		return nil
	}
}

// apart are patterns, behind each prefix, of the models of Gemini that take much
// less than the others of their number.
func apart(prefixes ...string) []string {
	var patterns []string
	for _, prefix := range prefixes {
		for _, kind := range []string{"image", "tts", "audio", "live", "computer-use"} {
			patterns = append(patterns, prefix+"gemini-*-"+kind+"*")
		}
	}
	return patterns
}
