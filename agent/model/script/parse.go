package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/goccy/go-yaml"
)

// document is the shape of a script file.
type document struct {
	Turns []turn `yaml:"turns"`
}

type turn struct {
	Text      string `yaml:"text"`
	ToolCalls []call `yaml:"tool_calls"`
}

type call struct {
	Name string `yaml:"name"`
	// Arguments are a map, or a text that is sent as it is, so that malformed
	// arguments can be tried.
	Arguments any `yaml:"arguments"`
}

// shape says what a script is, for the errors of files that are none.
const shape = "a script is a list `turns:` of {text, tool_calls}"

// parse reads a script. Errors begin with the line, or with a space where
// there is none.
func parse(data []byte) ([]model.Response, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict(), yaml.UseOrderedMap())
	var doc document
	if err := dec.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, located(err)
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, errors.New(" it has more than one document; remove the lines of ---")
	}
	if len(doc.Turns) == 0 {
		return nil, errors.New(" it has no turns; " + shape)
	}
	turns := make([]model.Response, len(doc.Turns))
	for i, t := range doc.Turns {
		if t.Text == "" && len(t.ToolCalls) == 0 {
			return nil, fmt.Errorf(" turn %d: it has neither text nor tool_calls; the last turn has the final answer as its text", i+1)
		}
		turns[i] = model.Response{Text: t.Text, Finish: model.FinishStop}
		for j, c := range t.ToolCalls {
			where := fmt.Sprintf(" turn %d, call %d", i+1, j+1)
			if c.Name == "" {
				return nil, fmt.Errorf("%s: it has no name; a call is {name, arguments}", where)
			}
			args, err := arguments(c.Arguments)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", where, err)
			}
			turns[i].Calls = append(turns[i].Calls, model.ToolCall{Name: c.Name, Arguments: args})
			turns[i].Finish = model.FinishToolCalls
		}
	}
	return turns, nil
}

// located puts the line first.
func located(err error) error {
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil {
		return fmt.Errorf("%d: %s; %s", at.GetToken().Position.Line, at.GetMessage(), shape)
	}
	return fmt.Errorf(" %w; %s", err, shape)
}

// arguments writes a call's arguments as a model would send them, in the
// script's order.
func arguments(value any) (string, error) {
	switch value := value.(type) {
	case nil:
		return "{}", nil
	case string:
		return value, nil
	case yaml.MapSlice:
		var out strings.Builder
		if err := writeJSON(&out, value); err != nil {
			return "", fmt.Errorf("its arguments cannot be written as JSON: %w", err)
		}
		return out.String(), nil
	default:
		return "", errors.New("its arguments are neither a map nor a text")
	}
}

// writeJSON writes a YAML value as JSON, maps in their order.
func writeJSON(out *strings.Builder, value any) error {
	switch value := value.(type) {
	case yaml.MapSlice:
		out.WriteByte('{')
		for i, item := range value {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeJSON(out, fmt.Sprint(item.Key)); err != nil {
				return err
			}
			out.WriteByte(':')
			if err := writeJSON(out, item.Value); err != nil {
				return err
			}
		}
		out.WriteByte('}')
		return nil
	case []any:
		out.WriteByte('[')
		for i, element := range value {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeJSON(out, element); err != nil {
				return err
			}
		}
		out.WriteByte(']')
		return nil
	default:
		var scalar bytes.Buffer
		enc := json.NewEncoder(&scalar)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(value); err != nil {
			return err
		}
		out.WriteString(strings.TrimSuffix(scalar.String(), "\n"))
		return nil
	}
}
