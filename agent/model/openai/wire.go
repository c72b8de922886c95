package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// A chunk is one event of a streamed answer, or a whole answer that was not
// streamed. Only what is used is named.
type chunk struct {
	Object  word     `json:"object"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage"`
	Groq    struct {
		Usage *usage          `json:"usage"`
		Error json.RawMessage `json:"error"` // why a stream was stopped early
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
	return c.Groq.Usage
}

type choice struct {
	Index   json.RawMessage `json:"index"`
	Delta   *delta          `json:"delta"`
	Message *delta          `json:"message"` // in place of Delta where nothing is streamed, or the whole again at the end
	Finish  word            `json:"finish_reason"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"` // OpenRouter
}

// first tells the one answer that was asked for.
func (c *choice) first() bool {
	n, ok := number(c.Index)
	return !ok || n == 0
}

type delta struct {
	Content   content     `json:"content"`
	Reasoning text        `json:"reasoning"`
	Thought   text        `json:"reasoning_content"`
	Refusal   text        `json:"refusal"`
	ToolCalls []callDelta `json:"tool_calls"`

	Details json.RawMessage `json:"reasoning_details"`
	// Other is what there is besides, such as reasoning in a form that is not
	// used here: the model is at work.
	Other map[string]json.RawMessage `json:"-"`
}

func (d *delta) UnmarshalJSON(data []byte) error {
	if !says(data) {
		return nil // an empty list stands for an empty object where PHP wrote it
	}
	type plain delta // without this method
	if err := json.Unmarshal(data, (*plain)(d)); err != nil {
		return err
	}
	d.Other = object(data)
	maps.DeleteFunc(d.Other, func(name string, value json.RawMessage) bool {
		switch name {
		case "role", "content", "reasoning", "reasoning_content", "reasoning_details", "refusal", "tool_calls":
			return true
		}
		return !says(value)
	})
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
		Name      word      `json:"name"`
		Arguments arguments `json:"arguments"`
	}
	// Extra are further fields, to be sent back: those beside the function, and
	// InFunction those within.
	Extra, InFunction map[string]json.RawMessage
}

// empty tells a piece that brings nothing.
func (d *callDelta) empty() bool {
	return d.ID == "" && d.Function.Name == "" && d.Function.Arguments == "" && len(d.Extra)+len(d.InFunction) == 0
}

func (d *callDelta) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	if n, ok := number(fields["index"]); ok {
		d.Index = &n
	}
	var id word
	_ = json.Unmarshal(fields["id"], &id) // a word takes anything
	d.ID = string(id)
	if value, ok := fields["function"]; ok {
		if err := json.Unmarshal(value, &d.Function); err != nil {
			return err
		}
		d.InFunction = further(object(value), "name", "arguments")
	}
	d.Extra = further(fields, "index", "id", "type", "function")
	return nil
}

// further are the fields that have other names and a value.
func further(fields map[string]json.RawMessage, known ...string) map[string]json.RawMessage {
	maps.DeleteFunc(fields, func(name string, value json.RawMessage) bool {
		return slices.Contains(known, name) || string(value) == "null"
	})
	return fields
}

// arguments are JSON in a string; some servers send the JSON itself.
type arguments string

func (a *arguments) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] == '"' || string(data) == "null" {
		return json.Unmarshal(data, (*string)(a))
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return err
	}
	*a = arguments(compact.String())
	return nil
}
