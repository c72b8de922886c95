package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/provider"
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"
)

// bridgeText stands between a tool's result and a user message where a server
// wants the model to speak in between.
const bridgeText = "I have the results."

// goOnText is what the user says where the protocol wants a message of the user
// and the conversation has none.
const goOnText = "Go on."

// buildParams is the request in the protocol's form.
func (c *Client) buildParams(req model.Request, d dialect) (sdk.ChatCompletionNewParams, error) {
	params := sdk.ChatCompletionNewParams{Model: c.model}
	messages, err := c.buildMessages(conversation(req, d.Rules), d.Rules)
	if err != nil {
		return params, err
	}
	if req.System != "" && d.System == provider.SystemMessage {
		params.Messages = append(params.Messages, sdk.SystemMessage(req.System))
	}
	params.Messages = append(params.Messages, messages...)
	for _, t := range req.Tools {
		tool, err := buildTool(t)
		if err != nil {
			return params, err
		}
		params.Tools = append(params.Tools, tool)
	}
	if d.Calls == provider.CallsAsked && len(params.Tools) > 0 {
		params.ParallelToolCalls = sdk.Bool(true)
	}
	if d.Usage {
		params.StreamOptions.IncludeUsage = sdk.Bool(true)
	}
	extra := map[string]any{}
	if req.MaxTokens > 0 {
		extra[d.MaxTokens] = req.MaxTokens
	}
	params.SetExtraFields(extra)
	return params, nil
}

// buildTool offers one tool. The schema goes out as it is written, since the
// order of its fields tells a model something too.
func buildTool(t model.ToolDefinition) (sdk.ChatCompletionToolUnionParam, error) {
	schema := t.Schema
	if len(bytes.TrimSpace(schema)) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if !isObject(string(schema)) {
		return sdk.ChatCompletionToolUnionParam{}, fmt.Errorf("the schema of the tool %q is not a JSON object", t.Name)
	}
	function := shared.FunctionDefinitionParam{Name: t.Name, Description: sdk.String(t.Description)}
	function.SetExtraFields(map[string]any{"parameters": schema})
	return sdk.ChatCompletionFunctionTool(function), nil
}

// buildMessages writes a conversation. Tool messages can only hold text, so
// images of a turn's results follow in one user message.
func (c *Client) buildMessages(messages []model.Message, rules provider.Rules) ([]sdk.ChatCompletionMessageParamUnion, error) {
	var out []sdk.ChatCompletionMessageParamUnion
	var images []sdk.ChatCompletionContentPartUnionParam
	afterTool := false
	// user adds a user message, together with the images that wait.
	user := func(text string) {
		if text == "" && len(images) == 0 {
			return
		}
		if afterTool && rules.Bridge {
			out = append(out, sdk.AssistantMessage(bridgeText))
		}
		if len(images) == 0 {
			out = append(out, sdk.UserMessage(text))
			return
		}
		if text != "" {
			images = append(images, sdk.TextContentPart(text))
		}
		out = append(out, sdk.UserMessage(images))
		images = nil
	}
	for _, m := range messages {
		switch m.Role {
		case model.User:
			user(m.Text)
		case model.Assistant:
			user("")
			message, err := c.buildAssistant(m, rules)
			if err != nil {
				return nil, err
			}
			out = append(out, message)
		case model.Tool:
			out = append(out, sdk.ToolMessage(toolText(m, rules.Images), m.CallID))
			if rules.Images {
				images = append(images, toolImages(m)...)
			}
		}
		afterTool = m.Role == model.Tool
	}
	user("")
	return out, nil
}

// buildAssistant writes what the model said and asked for.
func (c *Client) buildAssistant(m model.Message, rules provider.Rules) (sdk.ChatCompletionMessageParamUnion, error) {
	var message sdk.ChatCompletionAssistantMessageParam
	extra := map[string]any{}
	switch {
	case !blankText(m.Text): // some servers refuse a text of blanks
		message.Content.OfString = sdk.String(m.Text)
	case rules.Content == provider.ContentEmpty:
		message.Content.OfString = sdk.String("")
	default:
		extra["content"] = nil
	}
	if rules.Reasoning != "" && len(m.Calls) > 0 && (rules.ReasoningAlways || m.Reasoning != "") {
		extra[rules.Reasoning] = m.Reasoning
	}
	for _, call := range m.Calls {
		if !rules.Extra || call.Origin != c.host {
			call.Extra = "" // another server's fields mean nothing to this one
		}
		fields, err := extraFields(call)
		if err != nil {
			return sdk.ChatCompletionMessageParamUnion{}, err
		}
		if details, ok := fields[detailsField]; ok {
			extra[detailsField] = details
			delete(fields, detailsField)
		}
		message.ToolCalls = append(message.ToolCalls, buildCall(call, fields))
	}
	if len(extra) > 0 {
		message.SetExtraFields(extra)
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &message}, nil
}

// buildCall writes one call back, with further fields. Those of the function are
// in a field of its name, which is not to stand for the function itself.
func buildCall(call model.ToolCall, extra map[string]any) sdk.ChatCompletionMessageToolCallUnionParam {
	c := &sdk.ChatCompletionMessageFunctionToolCallParam{
		ID: call.ID,
		Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{
			Name: safeName(call.Name), Arguments: safeArguments(call.Arguments),
		},
	}
	if within, ok := extra[functionField].(json.RawMessage); ok {
		delete(extra, functionField)
		fields := map[string]any{}
		for name, value := range object(within) {
			fields[name] = value
		}
		c.Function.SetExtraFields(fields)
	}
	if len(extra) > 0 {
		c.SetExtraFields(extra)
	}
	return sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: c}
}

// safeArguments are arguments that a strict server takes back: always one JSON
// object. What the model garbled is shown to it inside one.
func safeArguments(args string) string {
	switch {
	case blank(args):
		return "{}"
	case isObject(args):
		return args
	}
	var wrapped bytes.Buffer
	enc := json.NewEncoder(&wrapped)
	enc.SetEscapeHTML(false)
	// A map of strings always encodes.
	_ = enc.Encode(map[string]string{"malformed_arguments": args})
	return strings.TrimSuffix(wrapped.String(), "\n")
}

// safeName is a tool's name that a strict server takes back: models make up
// names that such a server refuses for good once they are in the history.
func safeName(name string) string {
	const most = 64
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		default:
			return '_'
		}
	}, name)
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), most)]
}

// toolText is the text of a tool's result, with a word for each image. Strict
// servers refuse an empty one.
func toolText(m model.Message, images bool) string {
	fate := "it follows after the results"
	if !images {
		fate = "this server takes none"
	}
	var parts []string
	for _, p := range m.Parts {
		switch {
		case p.MediaType != "":
			parts = append(parts, fmt.Sprintf("(an image, %s, %d bytes; %s)", p.MediaType, len(p.Data), fate))
		case !blankText(p.Text):
			parts = append(parts, p.Text)
		}
	}
	if len(parts) == 0 {
		return "(no output)"
	}
	return strings.Join(parts, "\n")
}

// toolImages are the images of a tool's result, each with a word about where
// it comes from.
func toolImages(m model.Message) []sdk.ChatCompletionContentPartUnionParam {
	var parts []sdk.ChatCompletionContentPartUnionParam
	for _, p := range m.Parts {
		if p.MediaType == "" {
			continue
		}
		uri := "data:" + p.MediaType + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
		parts = append(parts,
			sdk.TextContentPart("The image in the result of the call "+m.CallID+":"),
			sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: uri}))
	}
	return parts
}
