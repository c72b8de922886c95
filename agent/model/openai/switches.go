package openai

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/provider"
)

// A refusal is what a server said about a request, in lower case.
type refusal string

func (r refusal) has(parts ...string) bool { return containsAny(string(r), parts...) }

func (r refusal) matches(pattern string) bool {
	return regexp.MustCompile(pattern).MatchString(string(r))
}

// A change is one way to write a request otherwise.
type change struct {
	// names reports whether the refusal is about this part, in this request.
	names func(r refusal, now provider.Rules, req model.Request) bool
	// change writes it the other way.
	change func(rules *provider.Rules, r refusal)
	// says tells in words how it is written then.
	says func(now provider.Rules) string
}

// always says the same whatever the rules are.
func always(text string) func(provider.Rules) string {
	return func(provider.Rules) string { return text }
}

// switches are the changes, the ones that are told by the plainest words first:
// "content" is a part of many messages that are about something else.
func switches() []change {
	return []change{
		{ // token counts
			names: func(r refusal, now provider.Rules, _ model.Request) bool {
				return now.Usage && r.has("stream_options", "include_usage")
			},
			change: func(rules *provider.Rules, _ refusal) { rules.Usage = false },
			says:   always("token counts are not asked for"),
		},
		{ // the bound of an answer
			names: func(r refusal, _ provider.Rules, req model.Request) bool {
				return req.MaxTokens > 0 && r.has("max_tokens", "max_completion_tokens")
			},
			change: func(rules *provider.Rules, _ refusal) { rules.MaxTokens = provider.OtherMaxTokens(rules.MaxTokens) },
			says:   func(now provider.Rules) string { return "an answer is bounded by " + now.MaxTokens },
		},
		{ // several calls, by the parameter
			names: func(r refusal, now provider.Rules, _ model.Request) bool {
				return now.Calls == provider.CallsAsked && r.has("parallel_tool_calls")
			},
			change: func(rules *provider.Rules, _ refusal) { rules.Calls = provider.CallsDefault },
			says:   always("several calls at once are not asked for"),
		},
		{ // several calls, in the history
			names: func(r refusal, now provider.Rules, req model.Request) bool {
				return now.Calls != provider.CallsSingle && hasSeveralCalls(req) && r.has("single tool-call", "single tool call", "one tool call", "one tool-call")
			},
			change: func(rules *provider.Rules, _ refusal) { rules.Calls = provider.CallsSingle },
			says:   always("calls go back one by one, each with its result"),
		},
		{ // reasoning that is wanted back, or is not
			names: func(r refusal, _ provider.Rules, req model.Request) bool {
				return hasCalls(req) && r.matches("reasoning_content|['\"`.]reasoning\\b")
			},
			change: changeReasoning,
			says: func(now provider.Rules) string {
				if now.Reasoning == "" {
					return "what the model thought does not go back to it"
				}
				return "what the model thought goes back to it as " + now.Reasoning
			},
		},
		{ // the form of ids
			names: func(r refusal, now provider.Rules, req model.Request) bool {
				return now.IDs != provider.IDsNine && hasCalls(req) && r.namesID()
			},
			change: func(rules *provider.Rules, _ refusal) { rules.IDs = provider.IDsNine },
			says:   always("ids of calls are nine letters and digits"),
		},
		{ // the order of roles
			names: func(r refusal, now provider.Rules, _ model.Request) bool {
				return !now.Bridge && r.namesUserAfterTool()
			},
			change: func(rules *provider.Rules, _ refusal) { rules.Bridge = true },
			says:   always("a message of the model stands between a result and a message of the user"),
		},
		{ // the system prompt
			names: func(r refusal, now provider.Rules, req model.Request) bool {
				return now.System == provider.SystemMessage && req.System != "" && r.namesSystem()
			},
			change: func(rules *provider.Rules, _ refusal) { rules.System = provider.SystemUser },
			says:   always("the system prompt stands before the first message of the user"),
		},
		{ // images
			names: func(r refusal, now provider.Rules, req model.Request) bool {
				return now.Images && hasImages(req) && r.namesImages()
			},
			change: func(rules *provider.Rules, _ refusal) { rules.Images = false },
			says:   always("the model is told that there was an image, and does not see it"),
		},
		{ // further fields of calls
			names:  func(r refusal, now provider.Rules, req model.Request) bool { return now.Extra && r.namesExtra(req) },
			change: func(rules *provider.Rules, _ refusal) { rules.Extra = false },
			says:   always("further fields of calls do not go back"),
		},
		{ // the text beside calls
			names: func(r refusal, _ provider.Rules, req model.Request) bool {
				return r.matches(`(^|[^_a-z])content\b`) && hasSilentCalls(req)
			},
			change: func(rules *provider.Rules, _ refusal) { rules.Content = otherContent(rules.Content) },
			says:   func(now provider.Rules) string { return fmt.Sprintf("a missing text is %s", now.Content) },
		},
	}
}

// changeReasoning drops reasoning, or hands it back in the field that is asked
// for. What was not sent can only have been missed.
func changeReasoning(rules *provider.Rules, r refusal) {
	if rules.Reasoning != "" && !r.has("missing", "passed back", "required") {
		rules.Reasoning, rules.ReasoningAlways = "", false
		return
	}
	rules.Reasoning, rules.ReasoningAlways = provider.ReasoningPlain, true
	if r.has(provider.ReasoningContent) {
		rules.Reasoning = provider.ReasoningContent
	}
}

func otherContent(c provider.Content) provider.Content {
	if c == provider.ContentNull {
		return provider.ContentEmpty
	}
	return provider.ContentNull
}

// fromTemplate tells failures of a model's chat template.
func (r refusal) fromTemplate() bool {
	return r.has("jinja", "chat template", "chat_template", "raise_exception", "single tool-calls at once")
}

// namesUserAfterTool tells refusals such as "unexpected role 'user' after role
// 'tool'".
func (r refusal) namesUserAfterTool() bool {
	return r.matches("\\buser\\b.* after (the |an? )?(role )?[\"'`]?tool\\b")
}

// namesID tells refusals such as "tool call id was x but must be nine letters"
// and "messages[2].tool_calls[0].id: string too long".
func (r refusal) namesID() bool {
	return r.matches(`tool_call_?id|tool call id|tool_calls(\[\d+\]|\.\d+)?\.id\b|tool_use(_id|\.id)`)
}

// namesSystem tells refusals such as "system role not supported".
func (r refusal) namesSystem() bool {
	return r.matches("system (role|message|prompt|instruction)s? (is |are )?(not |un)(supported|allowed|enabled)" +
		"|(not |n't )support (the |a )?[\"'`]?system|developer instruction is not enabled")
}

// namesImages tells refusals of every image, such as "does not support image
// input" and "unknown variant `image_url`". What is wrong with one image, its
// format or size, is no reason to leave out all that come later.
func (r refusal) namesImages() bool {
	const images = `\b(images?|image_url|vision|multi-?modal)\b`
	if r.matches(`\b(formats?|mime|media.?types?|sizes?|pixels?|dimensions?|resolution)\b|too (large|big|small|many)|exceed`) {
		return false
	}
	return r.matches("unknown variant [\"'`]?image" +
		"|" + images + `.*(\bnot\b|n't\b|\bonly\b|\bun).*(support|allowed|permitted|accept|enabled)` +
		`|(\bnot\b|n't\b|\bno\b|\bonly\b).*(support|allow|permit|accept|take).*` + images +
		`|unsupported (content|input|part|message|modality).*` + images +
		`|not an? (multi-?modal|vision)|at most 0 images?|(missing|lacks?) .*image input`)
}

// namesExtra tells refusals that name a further field of a call.
func (r refusal) namesExtra(req model.Request) bool {
	for _, m := range req.Messages {
		for _, call := range m.Calls {
			var fields map[string]json.RawMessage
			if call.Extra == "" || json.Unmarshal([]byte(call.Extra), &fields) != nil {
				continue
			}
			for name := range fields {
				if r.has(strings.ToLower(name)) {
					return true
				}
			}
		}
	}
	return false
}
