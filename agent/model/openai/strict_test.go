package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/provider"
)

// A strict server's view of a request: what is not here is refused.
type strictRequest struct {
	Model               string            `json:"model"`
	Messages            []json.RawMessage `json:"messages"`
	Tools               []json.RawMessage `json:"tools"`
	Stream              bool              `json:"stream"`
	StreamOptions       *streamOptions    `json:"stream_options"`
	MaxTokens           int               `json:"max_tokens"`
	MaxCompletionTokens int               `json:"max_completion_tokens"`
	Parallel            *bool             `json:"parallel_tool_calls"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type strictMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"tool_call_id"`
	Calls     []strictCall    `json:"tool_calls"`
	Reasoning *string         `json:"reasoning"`
	Thought   *string         `json:"reasoning_content"`
	Details   json.RawMessage `json:"reasoning_details"`
}

type strictCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
		// Extra is the further field that servers in the corpus have in a function.
		Extra json.RawMessage `json:"provider_specific_fields"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content"`
}

// strictly reads JSON and refuses what the target has no field for.
func strictly(data []byte, target any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(target)
}

// validate is the strictest server with the rules: it takes nothing but what
// they promise.
func validate(data []byte, rules provider.Rules, req model.Request) error {
	var r strictRequest
	if err := strictly(data, &r); err != nil {
		return err
	}
	bounds := map[string]int{"max_tokens": r.MaxTokens, "max_completion_tokens": r.MaxCompletionTokens}
	switch {
	case !r.Stream:
		return fmt.Errorf("it is not asked for a stream")
	case (r.StreamOptions != nil) != rules.Usage:
		return fmt.Errorf("stream_options are %v", r.StreamOptions)
	case bounds[rules.MaxTokens] != req.MaxTokens || bounds[provider.OtherMaxTokens(rules.MaxTokens)] != 0:
		return fmt.Errorf("the bounds are %v", bounds)
	case (r.Parallel != nil) != (rules.Calls == provider.CallsAsked && len(req.Tools) > 0):
		return fmt.Errorf("parallel_tool_calls is %v", r.Parallel)
	}
	var messages []strictMessage
	for i, raw := range r.Messages {
		var m strictMessage
		if err := strictly(raw, &m); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		messages = append(messages, m)
	}
	if rules.System == provider.SystemMessage && req.System != "" {
		if len(messages) == 0 || messages[0].Role != "system" || text(messages[0]) != req.System {
			return fmt.Errorf("the system prompt is not first")
		}
		messages = messages[1:]
	}
	if err := validateOrder(messages, rules); err != nil {
		return err
	}
	return validateCalls(messages, rules)
}

// mayGoBack tells a further field that the server sent itself, or none. Those
// that are from elsewhere have a y in them.
func mayGoBack(field json.RawMessage, rules provider.Rules) bool {
	return field == nil || rules.Extra && !strings.Contains(string(field), `"y"`)
}

// text is a content that is a text, or "".
func text(m strictMessage) string {
	var s string
	_ = json.Unmarshal(m.Content, &s) // anything else is no text
	return s
}

// validateOrder checks who may speak after whom, and what each may say.
func validateOrder(messages []strictMessage, rules provider.Rules) error {
	if len(messages) == 0 || messages[0].Role != "user" {
		return fmt.Errorf("the first message is not the user's")
	}
	if last := messages[len(messages)-1].Role; last == "assistant" {
		return fmt.Errorf("the last message is the assistant's")
	}
	for i, m := range messages {
		after := ""
		if i > 0 {
			after = messages[i-1].Role
		}
		var err error
		switch {
		case m.Role == "user" && (after == "user" || after == "tool" && rules.Bridge):
			err = fmt.Errorf("the user speaks after the %s", after)
		case m.Role == "assistant" && after == "assistant":
			err = fmt.Errorf("the assistant speaks twice")
		case m.Role != "assistant" && (m.Reasoning != nil || m.Thought != nil || m.Calls != nil):
			err = fmt.Errorf("the %s thinks or calls", m.Role)
		case m.Role == "user":
			err = validateUser(m, rules)
		case m.Role == "assistant":
			err = validateAssistant(m, rules)
		case m.Role == "tool":
			if strings.TrimSpace(text(m)) == "" {
				err = fmt.Errorf("an empty result")
			}
		default:
			err = fmt.Errorf("the role %q", m.Role)
		}
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	return nil
}

func validateUser(m strictMessage, rules provider.Rules) error {
	var parts []struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		Image json.RawMessage `json:"image_url"`
	}
	if strings.TrimSpace(text(m)) != "" {
		return nil
	}
	if err := strictly(m.Content, &parts); err != nil || len(parts) == 0 {
		return fmt.Errorf("the user says nothing: %s", m.Content)
	}
	for _, p := range parts {
		if p.Type == "text" && strings.TrimSpace(p.Text) == "" || p.Type == "image_url" && !rules.Images {
			return fmt.Errorf("the part %+v", p)
		}
	}
	return nil
}

func validateAssistant(m strictMessage, rules provider.Rules) error {
	fields := map[string]*string{provider.ReasoningPlain: m.Reasoning, provider.ReasoningContent: m.Thought}
	for name, value := range fields {
		switch {
		case value != nil && (name != rules.Reasoning || len(m.Calls) == 0):
			return fmt.Errorf("%s is %q", name, *value)
		case value == nil && name == rules.Reasoning && rules.ReasoningAlways && len(m.Calls) > 0:
			return fmt.Errorf("%s is missing", name)
		}
	}
	if !mayGoBack(m.Details, rules) || m.Details != nil && len(m.Calls) == 0 {
		return fmt.Errorf("details of another server: %s", m.Details)
	}
	nothing := map[provider.Content]string{provider.ContentNull: "null", provider.ContentEmpty: `""`}[rules.Content]
	switch {
	case strings.TrimSpace(text(m)) != "":
		return nil
	case len(m.Calls) == 0:
		return fmt.Errorf("the assistant says nothing")
	case string(m.Content) != nothing:
		return fmt.Errorf("content is %s, want %s", m.Content, nothing)
	}
	return nil
}

// validateCalls checks that each call has its one result right after it.
func validateCalls(messages []strictMessage, rules provider.Rules) error {
	form := regexp.MustCompile(map[provider.IDs]string{
		provider.IDsAny: "(?s)^.+$", provider.IDsShort: "^[a-zA-Z0-9_-]{1,40}$", provider.IDsNine: "^[a-zA-Z0-9]{9}$",
	}[rules.IDs])
	name := regexp.MustCompile("^[a-zA-Z0-9_-]{1,64}$")
	var open, all []string
	for i, m := range messages {
		if m.Role == "tool" {
			if len(open) == 0 || open[0] != m.CallID {
				return fmt.Errorf("message %d is the result of %q, but open are %q", i, m.CallID, open)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("message %d comes before the results of %q", i, open)
		}
		if len(m.Calls) > 1 && rules.Calls == provider.CallsSingle {
			return fmt.Errorf("message %d has %d calls", i, len(m.Calls))
		}
		for _, c := range m.Calls {
			var args map[string]any
			switch {
			case !form.MatchString(c.ID) || slices.Contains(all, c.ID):
				return fmt.Errorf("message %d: the id %q is none or taken", i, c.ID)
			case c.Type != "function" || !name.MatchString(c.Function.Name):
				return fmt.Errorf("message %d: the call %+v", i, c)
			case json.Unmarshal([]byte(c.Function.Arguments), &args) != nil || args == nil:
				return fmt.Errorf("message %d: the arguments %q", i, c.Function.Arguments)
			case !mayGoBack(c.Extra, rules), !mayGoBack(c.Function.Extra, rules):
				return fmt.Errorf("message %d: fields of another server: %s%s", i, c.Extra, c.Function.Extra)
			}
			open, all = append(open, c.ID), append(all, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the calls %q have no result", open)
	}
	return nil
}
