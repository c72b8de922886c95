package tools

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/belljar/belljar/internal/output"
	"github.com/belljar/belljar/internal/strictjson"
)

// Bounds of custom tools: each is sent to the model with every request, and
// providers take about so many.
const (
	MaxCustom            = 100
	maxCustomDescription = 8 << 10
	maxCustomParameters  = 64 << 10
)

// customDescription is the name of the text around the descriptions of custom
// tools, which is that of no tool.
const customDescription = "custom"

// BuiltIn tells whether a tool of this package has a name. Each has a text beside
// it that describes it.
func BuiltIn(name string) bool {
	_, err := descriptions.ReadFile(name + ".md")
	return err == nil && name != customDescription
}

// ParseCustom reads a JSON array of custom tools. The error names the tool and
// the field; a field that is not known is one.
func ParseCustom(data []byte) ([]Custom, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf(`it is not a list of tools: [{"name": "...", "description": "...", "command": [...]}]`)
	}
	if len(list) > MaxCustom {
		return nil, fmt.Errorf("it has %d tools, and at most %d are taken: leave some out", len(list), MaxCustom)
	}
	var tools []Custom
	for i, raw := range list {
		tool, err := parseCustom(raw)
		if err == nil && slices.ContainsFunc(tools, func(other Custom) bool { return other.Name == tool.Name }) {
			err = errors.New(".name: another tool in the list has it: choose another")
		}
		if err != nil {
			at := fmt.Sprintf("[%d]", i)
			if tool.Name != "" {
				at += fmt.Sprintf(" (%.64s)", tool.Name)
			}
			return nil, fmt.Errorf("%s%w", at, err)
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

// customFields read the fields of a custom tool, by their names.
func customFields() map[string]func(*Custom, json.RawMessage) error {
	return map[string]func(*Custom, json.RawMessage) error{
		"name":        parseCustomName,
		"description": parseCustomDescription,
		"parameters":  parseCustomParameters,
		"command":     parseCustomCommand,
		"effect":      parseCustomEffect,
		"timeout":     parseCustomTimeout,
		"output":      parseCustomOutput,
	}
}

// parseCustom reads one tool. What was read of it comes with an error, too. The
// error begins with a point and the field, or with a colon.
func parseCustom(raw json.RawMessage) (Custom, error) {
	c := Custom{Effect: Execute, Parameters: object(0)}
	fields, err := strictjson.Object(raw)
	if err != nil {
		return c, fmt.Errorf(": %w", err)
	}
	if name, ok := fields["name"]; ok { // first, for errors about others
		_ = parseCustomName(&c, name)
	}
	known := customFields()
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		parse, ok := known[name]
		if !ok {
			return c, fmt.Errorf(".%s: there is no such field; the fields are %s", quoteField(name), list(slices.Sorted(maps.Keys(known))))
		}
		if err := parse(&c, fields[name]); err != nil {
			return c, fmt.Errorf(".%s: %w", name, err)
		}
	}
	for _, name := range []string{"name", "description", "command"} {
		if _, ok := fields[name]; !ok {
			return c, fmt.Errorf(".%s: it is missing", name)
		}
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return c, err
	}
	c.Source = compact.Bytes()
	return c, nil
}

// quoteField shows a name that somebody wrote, within bounds.
func quoteField(name string) string { return fmt.Sprintf("%.64q", name) }

// parseText reads a text that holds something.
func parseText(raw json.RawMessage) (string, error) {
	var value *string
	if json.Unmarshal(raw, &value) != nil || value == nil {
		return "", errors.New("it is not a text")
	}
	if strings.TrimSpace(*value) == "" {
		return "", errors.New("it is empty")
	}
	return *value, nil
}

func parseCustomName(c *Custom, raw json.RawMessage) error {
	name, err := parseText(raw)
	if err != nil {
		return err
	}
	if !validName(name) {
		return fmt.Errorf("%.64q is none: it has 1 to 64 letters, digits, underscores and hyphens", name)
	}
	c.Name = name
	if BuiltIn(name) {
		return errors.New("belljar has a tool of that name: choose another")
	}
	return nil
}

func parseCustomDescription(c *Custom, raw json.RawMessage) (err error) {
	if c.Description, err = parseText(raw); err == nil && len(c.Description) > maxCustomDescription {
		err = fmt.Errorf("it is longer than %s, and goes to the model with every request", output.Size(maxCustomDescription))
	}
	return err
}

func parseCustomParameters(c *Custom, raw json.RawMessage) (err error) {
	if len(raw) > maxCustomParameters {
		return fmt.Errorf("it is longer than %s, and goes to the model with every request", output.Size(maxCustomParameters))
	}
	c.Parameters, err = ParseParameters(raw)
	return err
}

// parseCustomCommand reads a script, or the words of a command.
func parseCustomCommand(c *Custom, raw json.RawMessage) (err error) {
	var words []*string
	if json.Unmarshal(raw, &words) != nil {
		c.Script, err = parseText(raw)
		if err != nil && err.Error() != "it is empty" {
			err = errors.New(`it is neither a line for the shell ("wc -l") nor a list of words (["wc", "-l"])`)
		}
		return checkNUL(c.Script, err)
	}
	if len(words) == 0 || words[0] == nil || *words[0] == "" {
		return errors.New("it names no program")
	}
	for _, word := range words {
		if word == nil {
			return errors.New("a word of it is null")
		}
		c.Args = append(c.Args, *word)
		err = checkNUL(*word, err)
	}
	return err
}

func checkNUL(text string, err error) error {
	if err == nil && strings.ContainsRune(text, 0) {
		return errors.New("it holds a NUL byte, which no command can hold")
	}
	return err
}

func parseCustomEffect(c *Custom, raw json.RawMessage) error {
	effects := map[string]Effect{"read": Read, "write": Write, "execute": Execute}
	name, err := parseText(raw)
	effect, ok := effects[name]
	if err != nil || !ok {
		return fmt.Errorf("it is %.64s, and must be read, write or execute", raw)
	}
	c.Effect = effect
	return nil
}

// parseCustomTimeout reads a time span; a plain number is seconds.
func parseCustomTimeout(c *Custom, raw json.RawMessage) (err error) {
	var span *string
	var seconds *float64
	switch {
	case json.Unmarshal(raw, &seconds) == nil && seconds != nil:
		if *seconds*float64(time.Second) >= math.MaxInt64 {
			return fmt.Errorf("the longest is %s", maxJobTime)
		}
		c.Timeout = time.Duration(*seconds * float64(time.Second))
	case json.Unmarshal(raw, &span) == nil && span != nil:
		c.Timeout, err = time.ParseDuration(*span)
	}
	switch {
	case err != nil || c.Timeout <= 0:
		return fmt.Errorf(`it is %.64s, and must be above zero, with units or in seconds: "30s", "1m30s", 90`, raw)
	case c.Timeout > maxJobTime:
		return fmt.Errorf("the longest is %s", maxJobTime)
	}
	return nil
}

func parseCustomOutput(c *Custom, raw json.RawMessage) error {
	name, err := parseText(raw)
	if err != nil || name != "text" && name != "json" {
		return fmt.Errorf("it is %.64s, and must be text or json", cmp.Or(string(raw), "nothing"))
	}
	c.Rich = name == "json"
	return nil
}
