package openai

import (
	"encoding/json"
	"strings"
)

// text is a string that some servers send as a list of parts.
type text string

func (t *text) UnmarshalJSON(data []byte) error {
	if !says(data) {
		return nil // a false or an empty object where others have null
	}
	if !isList(data) {
		return json.Unmarshal(data, (*string)(t))
	}
	var all content
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	*t = text(all.text)
	return nil
}

// content is what a message says: a string, or a list of parts, in which some
// servers send the reasoning, too.
type content struct {
	text, thought string
	other         bool // a part of a kind that is not used here: the model is at work
}

func (c *content) UnmarshalJSON(data []byte) error {
	if !says(data) {
		return nil
	}
	if !isList(data) {
		return json.Unmarshal(data, &c.text)
	}
	var parts []struct {
		Type      string `json:"type"`
		Text      text   `json:"text"`
		Thinking  text   `json:"thinking"`
		Reasoning text   `json:"reasoning"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	var said, thought strings.Builder
	for _, p := range parts {
		switch p.Type {
		case "text":
			said.WriteString(string(p.Text))
		case "thinking", "reasoning":
			thought.WriteString(string(p.Thinking + p.Reasoning + p.Text))
		default:
			c.other = true
		}
	}
	c.text, c.thought = said.String(), thought.String()
	return nil
}

func isList(data []byte) bool { return len(data) > 0 && data[0] == '[' }
