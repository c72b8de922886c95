package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/belljar/belljar/agent/model/provider"
)

// readTokens finds the number for a model in a server's answer; 0 is none. What
// is not looked for is read over and never built up: an answer may have more
// fields than there is room for. The context bounds the work as well.
func readTokens(ctx context.Context, body io.Reader, source provider.WindowSource, model string) (int, error) {
	dec := json.NewDecoder(body)
	if source.List == "" {
		var whole json.RawMessage
		if err := dec.Decode(&whole); err != nil {
			return 0, err
		}
		return tokensOf(ctx, whole, source)
	}
	there, err := enter(ctx, dec, func(name string) bool { return name == source.List })
	if err != nil || !there {
		return 0, err
	}
	if err := opens(dec, '['); err != nil {
		return 0, err
	}
	for dec.More() {
		var entry json.RawMessage
		if err := errors.Join(ctx.Err(), dec.Decode(&entry)); err != nil {
			return 0, err
		}
		if named, err := isAbout(ctx, entry, source.Names, model); err != nil {
			return 0, err
		} else if named {
			return tokensOf(ctx, entry, source)
		}
	}
	_, err = dec.Token() // an answer that was cut may have had the model
	return 0, err
}

// isAbout tells the entry of a list that is about the model.
func isAbout(ctx context.Context, entry json.RawMessage, names []string, model string) (bool, error) {
	for _, name := range names {
		value, err := field(ctx, entry, name)
		if err != nil {
			return false, err
		}
		var got string
		if json.Unmarshal(value, &got) == nil && got != "" && sameModel(got, model) {
			return true, nil
		}
	}
	return false, nil
}

// sameModel compares two names; Ollama adds a tag where none is given.
func sameModel(a, b string) bool {
	const tag = ":latest"
	return strings.TrimSuffix(a, tag) == strings.TrimSuffix(b, tag)
}

// tokensOf is what a source says of a model: the least of the numbers, bounded
// by what can be in force at most.
func tokensOf(ctx context.Context, value json.RawMessage, source provider.WindowSource) (int, error) {
	tokens, err := leastOf(ctx, value, source.Tokens)
	if err != nil || tokens == 0 {
		return 0, err
	}
	most, err := leastOf(ctx, value, source.Most)
	if err != nil || most == 0 {
		return tokens, err
	}
	return min(tokens, most), nil
}

// leastOf is the least whole number in fields of a value, or 0.
func leastOf(ctx context.Context, value json.RawMessage, names []string) (int, error) {
	var found []int
	for _, name := range names {
		raw, err := field(ctx, value, name)
		if err != nil {
			return 0, err
		}
		var number float64
		if json.Unmarshal(raw, &number) == nil && number >= 1 && number <= math.MaxInt32 && number == math.Trunc(number) {
			found = append(found, int(number))
		}
	}
	if len(found) == 0 {
		return 0, nil
	}
	return slices.Min(found), nil
}

// field follows the parts of a name into a value; nil is not there.
func field(ctx context.Context, value json.RawMessage, name string) (json.RawMessage, error) {
	for name != "" && len(value) > 0 {
		if value[0] == '"' {
			return json.RawMessage(lineOf(scalar(value), name)), nil
		}
		if value[0] != '{' {
			return nil, nil
		}
		part, rest, _ := strings.Cut(name, ".")
		fits := func(key string) bool { return key == part }
		if part == "*" {
			part, rest = name, ""
			fits = func(key string) bool { _, end, ok := strings.Cut(key, "."); return ok && "*."+end == part }
		}
		dec := json.NewDecoder(bytes.NewReader(value))
		there, err := enter(ctx, dec, fits)
		if err != nil || !there {
			return nil, err
		}
		var inner json.RawMessage
		if err := dec.Decode(&inner); err != nil {
			return nil, err
		}
		value, name = inner, rest
	}
	return value, nil
}

// enter reads an object up to the value of the first field whose name fits.
func enter(ctx context.Context, dec *json.Decoder, fits func(name string) bool) (there bool, err error) {
	if err := opens(dec, '{'); err != nil {
		return false, err
	}
	for dec.More() {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		name, err := dec.Token()
		if err != nil {
			return false, err
		}
		if text, ok := name.(string); ok && fits(text) {
			return true, nil
		}
		var other json.RawMessage
		if err := dec.Decode(&other); err != nil {
			return false, err
		}
	}
	_, err = dec.Token()
	return false, err
}

// opens reads the beginning of an object or a list.
func opens(dec *json.Decoder, delim json.Delim) error {
	token, err := dec.Token()
	if err == nil && token != delim {
		return fmt.Errorf("it has no %s where one should be", delim)
	}
	return err
}

// lineOf is what stands after a name on a line of a text, or "".
func lineOf(text, name string) string {
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) == 2 && words[0] == name {
			return words[1]
		}
	}
	return ""
}
