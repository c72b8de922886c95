package provider

// The fields in which servers give reasoning.
const (
	// ReasoningContent is DeepSeek's field, which most others took over.
	ReasoningContent = "reasoning_content"
	// ReasoningPlain is the newer name, used by vLLM and OpenRouter.
	ReasoningPlain = "reasoning"
)

// Generic returns the profile of a server that nothing is known of. Null for
// content is what the protocol itself says; token counts are asked for, since
// the budgets live on them and a refusal names the field; nothing is sent that
// is not in the protocol.
func Generic() Profile {
	return Profile{Name: "generic", Rules: Rules{
		Content: ContentNull, IDs: IDsAny, System: SystemMessage, Usage: true, MaxTokens: maxTokens,
		Calls: CallsDefault, Images: true, Extra: true,
	}}
}

// Profiles returns all profiles, the generic one last. docs/providers.md says
// where each fact comes from.
func Profiles() []Profile {
	return append(append(hosted(), local()...), Generic())
}

// hosted are the providers that answer at an address of their own.
func hosted() []Profile {
	return []Profile{
		profile("openai", "https://api.openai.com/v1", []string{"api.openai.com"}, func(p *Profile) {
			p.IDs, p.MaxTokens = IDsShort, maxCompletionTokens
		}),
		profile("azure", "", []string{".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"}, func(p *Profile) {
			p.KeyHeader = "api-key" // a bearer token is an Entra ID token there, no key
			p.IDs, p.MaxTokens = IDsShort, maxCompletionTokens
		}),
		profile("deepseek", "https://api.deepseek.com/v1", []string{"api.deepseek.com"}, func(p *Profile) {
			// A thinking model may call a tool without a thought, and the field
			// is missed all the same.
			p.Reasoning, p.ReasoningAlways = ReasoningContent, true
			p.Images = false
		}),
		profile("qwen", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", []string{
			"dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com",
			"cn-hongkong.dashscope.aliyuncs.com", ".maas.aliyuncs.com",
		}, func(p *Profile) {
			p.Content = ContentEmpty // "The content field is a required field"
			p.Calls = CallsAsked     // off by default there
		}),
		profile("kimi", "https://api.moonshot.ai/v1", []string{"api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"}, func(p *Profile) {
			p.Reasoning = ReasoningContent
		}),
		profile("glm", "https://api.z.ai/api/paas/v4", []string{"api.z.ai", "open.bigmodel.cn"}, func(p *Profile) {
			p.Reasoning = ReasoningContent
			p.Usage = false // not a parameter there, and counts come unasked
		}),
		profile("mistral", "https://api.mistral.ai/v1", []string{"api.mistral.ai", "codestral.mistral.ai"}, func(p *Profile) {
			p.Content, p.IDs, p.Bridge = ContentEmpty, IDsNine, true
			p.Usage = false // unknown fields are refused, and counts come unasked
		}),
		profile("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", []string{
			"generativelanguage.googleapis.com", "aiplatform.googleapis.com", "-aiplatform.googleapis.com",
		}, nil),
		profile("anthropic", "https://api.anthropic.com/v1", []string{"api.anthropic.com"}, func(p *Profile) {
			p.IDs = IDsShort
		}),
		profile("openrouter", "https://openrouter.ai/api/v1", []string{"openrouter.ai"}, func(p *Profile) {
			p.IDs = IDsShort // it hands requests on to the strictest of them
		}),
		profile("groq", "https://api.groq.com/openai/v1", []string{"api.groq.com"}, func(p *Profile) {
			p.MaxTokens = maxCompletionTokens
		}),
	}
}

// local are the servers that people run themselves. A port stands for a server
// only where hardly anything else listens there.
func local() []Profile {
	return []Profile{
		profile("ollama", "http://localhost:11434/v1", []string{":11434"}, func(p *Profile) {
			p.Content = ContentEmpty // "invalid message content type: <nil>"
		}),
		profile("vllm", "http://localhost:8000/v1", nil, func(p *Profile) {
			p.Reasoning = ReasoningPlain
		}),
		profile("llama.cpp", "http://localhost:8080/v1", nil, func(p *Profile) {
			p.Reasoning = ReasoningContent
		}),
		profile("lmstudio", "http://localhost:1234/v1", []string{":1234"}, func(p *Profile) {
			p.Content = ContentEmpty // "must be a string or an array of objects"
		}),
	}
}

// profile is the generic profile with what is different.
func profile(name, baseURL string, hosts []string, differ func(*Profile)) Profile {
	p := Generic()
	p.Name, p.BaseURL, p.Hosts = name, baseURL, hosts
	p.Windows, p.Sources = windows(name), sources(name)
	if differ != nil {
		differ(&p)
	}
	return p
}
