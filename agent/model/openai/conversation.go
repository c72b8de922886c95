package openai

import (
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/provider"
)

// conversation is the request's conversation as the server takes it, whatever
// became of it when a run was killed: each call with its result right after it,
// ids of the server's form and no two alike, a message of the user first, and
// last one that the model has to answer.
func conversation(req model.Request, rules provider.Rules) []model.Message {
	messages := model.Repair(req.Messages)
	if rules.Calls == provider.CallsSingle {
		messages = splitCalls(messages)
	}
	messages = mapIDs(messages, rules.IDs)
	if len(messages) == 0 || messages[0].Role != model.User {
		messages = append([]model.Message{{Role: model.User, Text: goOnText}}, messages...)
	}
	if messages[len(messages)-1].Role == model.Assistant {
		messages = append(messages, model.Message{Role: model.User, Text: goOnText})
	}
	if req.System != "" && rules.System == provider.SystemUser {
		messages[0].Text = req.System + "\n\n" + messages[0].Text
	}
	return messages
}

// splitCalls makes a message of its own of each call, followed by its result.
// The text and the reasoning stay with the first one.
func splitCalls(messages []model.Message) []model.Message {
	var out []model.Message
	for i, m := range messages {
		if len(m.Calls) == 0 {
			if m.Role != model.Tool {
				out = append(out, m)
			}
			continue
		}
		for n, call := range m.Calls {
			one := model.Message{Role: model.Assistant, Calls: []model.ToolCall{call}}
			if n == 0 {
				one.Text, one.Reasoning = m.Text, m.Reasoning
			}
			out = append(out, one, messages[i+1+n]) // the result of each call follows in order
		}
	}
	return out
}

// blankText tells a text that says nothing.
func blankText(text string) bool { return strings.TrimSpace(text) == "" }
