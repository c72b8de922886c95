package provider

import "time"

// heldBack is how long a server may be silent that holds a call back until it
// is whole: a large file in one takes minutes.
const heldBack = 10 * time.Minute

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
// is not in the protocol. It may be a proxy of anything, which gives no reason
// for an end and holds calls back.
func Generic() Profile {
	return Profile{Name: "generic", NoReason: true, Idle: heldBack, Rules: Rules{
		Content: ContentNull, IDs: IDsAny, System: SystemMessage, Usage: true, MaxTokens: maxTokens,
		Calls: CallsDefault, Images: true, Extra: true,
	}}
}

// Profiles returns all profiles, the generic one last. docs/providers.md says
// where each fact comes from.
func Profiles() []Profile {
	return append(append(hosted(), local()...), Generic())
}

// hosted are the providers that answer at an address of their own. They give
// reasons and send calls in pieces, where nothing else is said.
func hosted() []Profile {
	return []Profile{
		service("openai", "https://api.openai.com/v1", []string{"api.openai.com"}, func(p *Profile) {
			p.IDs, p.MaxTokens = IDsShort, maxCompletionTokens
		}),
		service("azure", "", []string{".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"}, func(p *Profile) {
			p.KeyHeader = "api-key" // a bearer token is an Entra ID token there, no key
			p.IDs, p.MaxTokens = IDsShort, maxCompletionTokens
		}),
		service("deepseek", "https://api.deepseek.com/v1", []string{"api.deepseek.com"}, func(p *Profile) {
			// A thinking model may call a tool without a thought, and the field
			// is missed all the same.
			p.Reasoning, p.ReasoningAlways = ReasoningContent, true
			p.Images = false
		}),
		service("qwen", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", []string{
			"dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com",
			"cn-hongkong.dashscope.aliyuncs.com", ".maas.aliyuncs.com",
		}, func(p *Profile) {
			p.NoReason = true        // none beside texts, some of its models
			p.Content = ContentEmpty // "The content field is a required field"
			p.Calls = CallsAsked     // off by default there
		}),
		service("kimi", "https://api.moonshot.ai/v1", []string{"api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"}, func(p *Profile) {
			p.Reasoning = ReasoningContent
		}),
		service("glm", "https://api.z.ai/api/paas/v4", []string{"api.z.ai", "open.bigmodel.cn"}, func(p *Profile) {
			p.Reasoning = ReasoningContent
			p.Usage = false // not a parameter there, and counts come unasked
			p.Idle = heldBack
		}),
		service("mistral", "https://api.mistral.ai/v1", []string{"api.mistral.ai", "codestral.mistral.ai"}, func(p *Profile) {
			p.Content, p.IDs, p.Bridge = ContentEmpty, IDsNine, true
			p.Usage = false // unknown fields are refused, and counts come unasked
			p.Idle = heldBack
		}),
		service("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", []string{
			"generativelanguage.googleapis.com", "aiplatform.googleapis.com", "-aiplatform.googleapis.com",
		}, func(p *Profile) {
			p.Idle = heldBack
		}),
		service("anthropic", "https://api.anthropic.com/v1", []string{"api.anthropic.com"}, func(p *Profile) {
			p.IDs, p.Idle = IDsShort, heldBack
		}),
		service("openrouter", "https://openrouter.ai/api/v1", []string{"openrouter.ai"}, func(p *Profile) {
			p.IDs = IDsShort  // it hands requests on to the strictest of them
			p.Idle = heldBack // and to the slowest
		}),
		service("groq", "https://api.groq.com/openai/v1", []string{"api.groq.com"}, func(p *Profile) {
			p.MaxTokens = maxCompletionTokens
		}),
	}
}

// local are the servers that people run themselves. A port stands for a server
// only where hardly anything else listens there.
func local() []Profile {
	return []Profile{
		profile("ollama", "http://localhost:11434/v1", []string{":11434"}, func(p *Profile) {
			p.NoReason = false
			p.Content = ContentEmpty // "invalid message content type: <nil>"
		}),
		profile("vllm", "http://localhost:8000/v1", nil, func(p *Profile) {
			p.Reasoning = ReasoningPlain
		}),
		profile("llama.cpp", "http://localhost:8080/v1", nil, func(p *Profile) {
			p.Reasoning = ReasoningContent
		}),
		profile("lmstudio", "http://localhost:1234/v1", []string{":1234"}, func(p *Profile) {
			p.NoReason = false
			p.Content = ContentEmpty // "must be a string or an array of objects"
		}),
	}
}

// service is the profile of a provider that answers at an address of its own.
func service(name, baseURL string, hosts []string, differ func(*Profile)) Profile {
	return profile(name, baseURL, hosts, func(p *Profile) {
		p.NoReason, p.Idle = false, 0
		if differ != nil {
			differ(p)
		}
	})
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
