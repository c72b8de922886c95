package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
)

// A chunk is one event of a streamed answer, or a whole answer that was not
// streamed. Only what is used is named.
type chunk struct {
	Object  string   `json:"object"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage"`
	Groq    *struct {
		Usage *usage `json:"usage"`
	} `json:"x_groq"`
	Error json.RawMessage `json:"error"`
	// Feedback is where Gemini's own protocol, and some gateways, say that the
	// prompt was blocked.
	Feedback json.RawMessage `json:"promptFeedback"`
}

// counted are the token counts, which Kimi puts beside the reason and Groq in a
// field of its own.
func (c *chunk) counted() *usage {
	if c.Usage != nil {
		return c.Usage
	}
	for _, choice := range c.Choices {
		if choice.Usage != nil {
			return choice.Usage
		}
	}
	if c.Groq != nil {
		return c.Groq.Usage
	}
	return nil
}

type choice struct {
	Index        int    `json:"index"`
	Delta        *delta `json:"delta"`
	Message      *delta `json:"message"` // in place of Delta where nothing is streamed
	FinishReason string `json:"finish_reason"`
	Usage        *usage `json:"usage"`
}

type delta struct {
	Content   content     `json:"content"`
	Reasoning text        `json:"reasoning"`
	Thought   text        `json:"reasoning_content"`
	Refusal   text        `json:"refusal"`
	ToolCalls []callDelta `json:"tool_calls"`

	Details json.RawMessage `json:"reasoning_details"`
	// Other tells that there is something else than these, such as reasoning in
	// a form that is not used here: the model is at work.
	Other bool `json:"-"`
}

func (d *delta) UnmarshalJSON(data []byte) error {
	type plain delta // without this method
	if err := json.Unmarshal(data, (*plain)(d)); err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	for name, value := range fields {
		switch name {
		case "role", "content", "reasoning", "reasoning_content", "refusal", "tool_calls":
			continue
		}
		switch string(value) {
		case "null", `""`, "[]", "{}":
			continue
		}
		d.Other = true
	}
	d.Other = d.Other || d.Content.other
	return nil
}

// thought is the reasoning of the piece. Servers that send it in more than one
// field send the same twice.
func (d *delta) thought() string {
	return cmp.Or(string(d.Thought), string(d.Reasoning), d.Content.thought)
}

// A callDelta is a piece of a tool call.
type callDelta struct {
	Index    *int
	ID       string
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	}
	Extra map[string]json.RawMessage // further fields, to be sent back
}

func (d *callDelta) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	for name, target := range map[string]any{"index": &d.Index, "id": &d.ID, "function": &d.Function} {
		if value, ok := fields[name]; ok {
			if err := json.Unmarshal(value, target); err != nil {
				return err
			}
			delete(fields, name)
		}
	}
	delete(fields, "type")
	for name, value := range fields {
		if string(value) == "null" {
			delete(fields, name)
		}
	}
	d.Extra = fields
	return nil
}

// arguments are JSON in a string; some servers send the JSON itself.
type arguments string

func (a *arguments) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '{' {
		return json.Unmarshal(data, (*string)(a))
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return err
	}
	*a = arguments(compact.String())
	return nil
}
