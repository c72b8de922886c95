package tools_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belljar/belljar/sandbox"
	"github.com/belljar/belljar/tools"
)

// sent is what a command gets of a call, or what the model is told.
func sent(t *testing.T, schema, args string) string {
	t.Helper()
	c := parseCustom(t, `{"name": "x", "description": "X.", "command": "x", "parameters": `+schema+`}`)
	got := ""
	res, err := callCustom(t, c, args, nil, func(_ context.Context, cmd sandbox.Command) (sandbox.Result, error) {
		stdin, err := io.ReadAll(cmd.Stdin)
		got = string(stdin)
		return exited(0), err
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.IsError {
		return text(t, res)
	}
	return got
}

// TestNullArguments: null is taken for a field that was left out only where it
// cannot be meant.
func TestNullArguments(t *testing.T) {
	field := func(schema string) string { return `{"type": "object", "properties": {"a": ` + schema + `}}` }
	for _, tt := range []struct{ name, schema, args, want string }{
		{"type", field(`{"type": "string"}`), `{"a":null}`, `{}`},
		{"types", field(`{"type": ["string", "null"]}`), `{"a":null}`, `{"a":null}`},
		{"types without null", field(`{"type": ["string", "number"]}`), `{"a":null}`, `{}`},
		{"any of", field(`{"anyOf": [{"type": "string"}, {"type": "null"}]}`), `{"a":null}`, `{"a":null}`},
		{"any of others", field(`{"anyOf": [{"type": "string"}, {"type": "number"}]}`), `{"a":null}`, `{}`},
		{"any value", field(`{}`), `{"a":null}`, `{"a":null}`},
		{"true", field(`true`), `{"a":null}`, `{"a":null}`},
		{"enum", field(`{"enum": ["x", null]}`), `{"a":null}`, `{"a":null}`},
		{"enum without null", field(`{"enum": ["x"]}`), `{"a":null}`, `{}`},
		{"reference", `{"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": ["string", "null"]}}}`, `{"a":null}`, `{"a":null}`},
		{"any field", `{"type": "object"}`, `{"a":null}`, `{"a":null}`},
		{"no such field", `{"type": "object", "additionalProperties": false}`, `{"a":null}`, `{}`},
		{"other fields", `{"type": "object", "properties": {"a": {"type": "object", "additionalProperties": {"type": ["string", "null"]}}}}`, `{"a":{"KEY":null}}`, `{"a":{"KEY":null}}`},
		{"number of fields", `{"type": "object", "minProperties": 1}`, `{"a":null}`, `{"a":null}`},
		{"beside one that cannot be", `{"type": "object", "properties": {"a": {}, "b": {"type": "string"}, "n": {"type": "number"}}}`, `{"a":null,"b":null,"n":1.0}`, `{"a":null,"n":1.0}`},
		{"within a list", field(`{"type": "array", "items": {"type": "object", "properties": {"b": {"type": "string"}}}}`), `{"a":[{"b":null}]}`, `{"a":[{}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, sent(t, tt.schema, tt.args)); diff != "" {
				t.Errorf("stdin (-want +got):\n%s", diff)
			}
		})
	}
	if got := sent(t, `{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}`, `{"a":null}`); !strings.Contains(got, `"a" is null, and must be a string`) {
		t.Errorf("a required field: %s", got)
	}
}

// TestWrongArgumentsText: a value is told as the JSON that it is, and what is told
// has bounds.
func TestWrongArgumentsText(t *testing.T) {
	field := func(schema string) string {
		return `{"type": "object", "properties": {"a": ` + schema + `}, "required": ["a"]}`
	}
	numbers := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]" }
	for _, tt := range []struct{ name, schema, args, want string }{
		{"number", field(`{"enum": [1, 2]}`), `{"a":5}`, `- "a" is 5, and must be one of 1, 2`},
		{"null", field(`{"enum": ["x", null]}`), `{"a":"<y>"}`, `- "a" is "<y>", and must be one of "x", null`},
		{"null that is not", field(`{"enum": ["x"]}`), `{"a":null}`, `- "a" is null, and must be one of "x"`},
		{"long value", field(`{"enum": ["x"]}`), `{"a":"` + strings.Repeat("é", 1<<20) + `"}`, `é…, and must be one of "x"`},
		{"many choices", `{"type": "object", "properties": {"a": {"type": "array", "items": {"enum": ` + numbers(9000) + `}}}}`, `{"a":[2,2,2,2,2,2,2,2,2,2,2,2,2,2]}`, "1, 1 and 8980 more"},
		{"bound of the library", field(`{"type": "string", "maxLength": 5}`), `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, "maxLength"},
		{"long name", `{"type": "object", "additionalProperties": false}`, `{"` + strings.Repeat("x", 1<<20) + `":1}`, "is unknown"},
		{"types", field(`{"type": ["string", "null"]}`), `{}`, `- "a" is missing (a string or null)`},
		{"choices of schemas", field(`{"anyOf": [{"type": "string"}, {"type": "array"}]}`), `{"a":1}`, "did not validate against any of its schemas"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := sent(t, tt.schema, tt.args)
			if !strings.Contains(got, tt.want) || strings.Contains(got, "<anonymous") {
				t.Errorf("%.3000q, want %q in it", got, tt.want)
			}
			if n := len([]rune(got)); n > tools.ShownOutput+200 {
				t.Errorf("%d characters", n)
			}
		})
	}
}
