package tools_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/belljar/belljar/tools"
)

func TestParseCustom(t *testing.T) {
	got, err := tools.ParseCustom([]byte(`[
	  {"name": "a", "description": "A.", "command": "wc -l"},
	  {"name": "B-2", "description": "B.", "command": ["b", ""], "effect": "write", "timeout": 1.5, "output": "json",
	   "parameters": {"type": "object", "x-note": "mine", "properties": {"z": {"type": "string"}, "a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "number"}}}},
	  {"name": "c", "description": "C.", "command": ["c"], "effect": "read", "timeout": "2m", "output": "text"}
	]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []tools.Custom{
		{Name: "a", Description: "A.", Script: "wc -l", Effect: tools.Execute, Source: json.RawMessage(`{"name":"a","description":"A.","command":"wc -l"}`)},
		{Name: "B-2", Description: "B.", Args: []string{"b", ""}, Effect: tools.Write, Timeout: 1500 * time.Millisecond, Rich: true},
		{Name: "c", Description: "C.", Args: []string{"c"}, Effect: tools.Read, Timeout: 2 * time.Minute},
	}
	if diff := cmp.Diff(want[0].Source, got[0].Source); diff != "" {
		t.Errorf("source (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(tools.Custom{}, "Parameters", "Source")); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	for i, want := range []string{
		`"properties":{},"additionalProperties":false}`,
		// In the order in which they were written.
		`"properties":{"z":{"type":"string"},"a":{"$ref":"#/$defs/n"}}`,
	} {
		schema, err := json.Marshal(got[i].Parameters)
		if err != nil || !strings.Contains(string(schema), want) {
			t.Errorf("schema %s, %v; want %s in it", schema, err, want)
		}
	}
	for _, text := range []string{"[]", " null "} {
		if got, err := tools.ParseCustom([]byte(text)); err != nil || len(got) != 0 {
			t.Errorf("ParseCustom(%s) = %v, %v", text, got, err)
		}
	}
}

func TestParseCustomFaults(t *testing.T) {
	tool := func(fields string) string {
		return `[{"name": "x", "description": "X.", "command": "x", ` + fields + `}]`
	}
	parameters := func(schema string) string { return tool(`"parameters": ` + schema) }
	many := strings.Repeat(`{},`, 100) + `{}`
	doubling := `{"type": "object", "$ref": "#/$defs/n0", "$defs": {"n40": {}`
	for i := range 40 {
		doubling += fmt.Sprintf(`, "n%d": {"allOf": [{"$ref": "#/$defs/n%d"}, {"$ref": "#/$defs/n%d"}]}`, i, i+1, i+1)
	}
	deepening := `{"type": "object", "properties": {"p": {"$ref": "#/$defs/n0"}}, "$defs": {"n40": {}`
	for i := range 40 {
		deepening += fmt.Sprintf(`, "n%d": {"anyOf": [{"items": {"$ref": "#/$defs/n%d"}}, {"items": {"$ref": "#/$defs/n%d"}}]}`, i, i+1, i+1)
	}
	node := func(schema string) string {
		return parameters(`{"type": "object", "properties": {"p": {"$ref": "#/$defs/n"}}, "$defs": {"n": ` + strings.ReplaceAll(schema, "NODE", `{"$ref": "#/$defs/n"}`) + `}}`)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"not a list", `{"x": {}}`, "it is not a list of tools"},
		{"not a tool", `["x"]`, "[0]: it is a JSON string, not an object"},
		{"many", "[" + many + "]", "it has 101 tools, and at most 100"},
		{"nothing", `[{}]`, "[0].name: it is missing"},
		{"no description", `[{"name": "x", "command": "x"}]`, "[0] (x).description: it is missing"},
		{"no command", `[{"name": "x", "description": "X."}]`, "[0] (x).command: it is missing"},
		{"unknown field", tool(`"comand": "y"`), `[0] (x)."comand": there is no such field; the fields are command, description, effect, name, output, parameters and timeout`},
		{"other case", tool(`"Effect": "read"`), `"Effect": there is no such field`},
		{"field twice", tool(`"effect": "read", "effect": "write"`), `the field "effect" is there twice`},
		{"field twice within", parameters(`{"type": "object", "type": "object"}`), `the field "type" is there twice`},
		{"second of several", `[{"name": "a", "description": "A.", "command": "a"}, {"name": "b", "description": 1, "command": "b"}]`, "[1] (b).description: it is not a text"},

		{"name with a space", `[{"name": "a b", "description": "X.", "command": "x"}]`, `[0].name: "a b" is none: it has 1 to 64 letters`},
		{"name that is long", `[{"name": "` + strings.Repeat("n", 65) + `", "description": "X.", "command": "x"}]`, "1 to 64 letters"},
		{"empty name", `[{"name": "", "description": "X.", "command": "x"}]`, "[0].name: it is empty"},
		{"name of another", `[{"name": "a", "description": "A.", "command": "a"}, {"name": "a", "description": "A.", "command": "a"}]`, "[1] (a).name: another tool in the list has it"},
		{"name of a tool of belljar's", `[{"name": "bash", "description": "A.", "command": "a"}]`, "[0] (bash).name: belljar has a tool of that name"},

		{"empty description", `[{"name": "x", "description": " \n", "command": "x"}]`, "description: it is empty"},
		{"long description", `[{"name": "x", "description": "` + strings.Repeat("d", 8<<10+1) + `", "command": "x"}]`, "description: it is longer than 8 KiB"},

		{"empty command", `[{"name": "x", "description": "X.", "command": ""}]`, "command: it is empty"},
		{"command of no words", `[{"name": "x", "description": "X.", "command": []}]`, "command: it names no program"},
		{"command without a program", `[{"name": "x", "description": "X.", "command": ["", "a"]}]`, "command: it names no program"},
		{"command with a null", `[{"name": "x", "description": "X.", "command": ["a", null]}]`, "command: a word of it is null"},
		{"command that is an object", `[{"name": "x", "description": "X.", "command": {"run": "a"}}]`, "command: it is neither a line for the shell"},
		{"command that is null", `[{"name": "x", "description": "X.", "command": null}]`, "command: it names no program"},
		{"NUL in a line", `[{"name": "x", "description": "X.", "command": "a\u0000"}]`, "command: it holds a NUL byte"},
		{"NUL in a word", `[{"name": "x", "description": "X.", "command": ["a", "b\u0000"]}]`, "command: it holds a NUL byte"},

		{"effect", tool(`"effect": "delete"`), `effect: it is "delete", and must be read, write or execute`},
		{"effect that is no text", tool(`"effect": 1`), `effect: it is 1, and must be`},
		{"timeout without a unit", tool(`"timeout": "30"`), `timeout: it is "30", and must be above zero`},
		{"no timeout", tool(`"timeout": 0`), `timeout: it is 0, and must be above zero`},
		{"negative timeout", tool(`"timeout": "-1s"`), "above zero"},
		{"timeout that is null", tool(`"timeout": null`), "above zero"},
		{"timeout that is too small", tool(`"timeout": 1e-12`), "above zero"},
		{"long timeout", tool(`"timeout": "9000h"`), "timeout: the longest is "},
		{"timeout beyond any duration", tool(`"timeout": 1e300`), "timeout: the longest is "},
		{"output", tool(`"output": "yaml"`), `output: it is "yaml", and must be text or json`},

		{"schema that is none", parameters(`"object"`), "parameters: it is no JSON Schema"},
		{"schema that is null", parameters(`null`), "parameters: it is not the schema of an object"},
		{"schema of a list", parameters(`{"type": "array"}`), "parameters: it is not the schema of an object"},
		{"properties without the schema", parameters(`{"path": {"type": "string"}}`), "parameters: it is not the schema of an object"},
		{"type that does not exist", parameters(`{"type": "object", "properties": {"a": {"type": "text"}}}`), `parameters: the type "text" is in properties/a; the types are array, `},
		{"pattern that is none", parameters(`{"type": "object", "properties": {"a": {"pattern": "("}}}`), "parameters: it is no JSON Schema"},
		{"keyword of a slip", parameters(`{"type": "object", "requierd": ["a"]}`), `parameters: "requierd", which JSON Schema does not know, is in the schema itself`},
		{"keyword of a slip within", parameters(`{"type": "object", "properties": {"a": {"items": {"minlength": 1}}}}`), `"minlength", which JSON Schema does not know, is in properties/a/items`},
		{"reference to elsewhere", parameters(`{"type": "object", "properties": {"a": {"$ref": "https://example.com/a.json"}}}`), "leads nowhere"},
		{"reference to nothing", parameters(`{"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}`), "in properties/a: $ref \"#/$defs/a\" leads nowhere"},
		{"reference to itself", parameters(`{"type": "object", "$ref": "#"}`), "$ref leads back to itself"},
		{"references in a ring", parameters(`{"type": "object", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}}`), "$ref leads back to itself"},
		{"references that double", parameters(doubling + "}}"), "more than 10000 schemas"},
		{"base within", parameters(`{"type": "object", "$defs": {"a": {"$id": "http://x/a", "$ref": "#"}}, "properties": {"p": {"$ref": "#/$defs/a"}}}`), "$id is taken at the top alone"},
		{"anchor", parameters(`{"type": "object", "properties": {"p": {"$anchor": "a"}}}`), "in properties/p: $anchor and $dynamicAnchor are not taken"},
		{"dynamic reference", parameters(`{"type": "object", "properties": {"p": {"$dynamicRef": "#a"}}}`), "in properties/p: $dynamicRef is not taken"},
		{"escaped reference", parameters(`{"type": "object", "$defs": {"a~1b": {}, "a/b": {"$ref": "#/$defs/a~1b"}}, "properties": {"p": {"$ref": "#/$defs/a~1b"}}}`), "has a /, ~ or % in the name"},
		{"encoded reference", parameters(`{"type": "object", "$defs": {"a%62": {}, "ab": {"$ref": "#/$defs/a%62"}}}`), "has a /, ~ or % in the name"},
		{"reference within a definition", parameters(`{"type": "object", "$defs": {"a/not": {}, "a": {"not": {"$ref": "#/$defs/a/not"}}}}`), "has a /, ~ or % in the name"},
		{"references that double within", parameters(deepening + "}}"), "more than 10000 schemas"},
		{"recursive in two branches", node(`{"oneOf": [{"properties": {"c": NODE, "a": {}}}, {"properties": {"c": NODE, "b": {}}}]}`), "by two ways for the same value"},
		{"recursive in two items", node(`{"anyOf": [{"items": NODE}, {"items": NODE}]}`), "by two ways for the same value"},
		{"recursive in a field twice", node(`{"properties": {"c": {"allOf": [NODE, NODE]}}}`), "by two ways for the same value"},
		{"recursive by name and by pattern", node(`{"properties": {"c": NODE}, "patternProperties": {"^c": NODE}}`), "by two ways for the same value"},
		{"recursive in if and then", node(`{"if": {"properties": {"c": NODE}}, "then": {"properties": {"c": NODE}}}`), "by two ways for the same value"},
		{"recursive in items and in one of them", node(`{"items": NODE, "contains": NODE}`), "by two ways for the same value"},
		{"recursive by way of another", node(`{"anyOf": [{"items": NODE}, {"items": {"not": NODE}}]}`), "by two ways for the same value"},
		{"version that is not checked", parameters(`{"type": "object", "$schema": "http://json-schema.org/draft-04/schema#"}`), `its $schema is "http://json-schema.org/draft-04/schema#"; leave it out`},
		{"version with a fragment", parameters(`{"type": "object", "$schema": "https://json-schema.org/draft/2020-12/schema#"}`), "its $schema is "},
		{"multiple of nothing", parameters(`{"type": "object", "properties": {"a": {"multipleOf": 0}}}`), "in properties/a: multipleOf is not above zero"},
		{"list of items", parameters(`{"type": "object", "properties": {"a": {"items": [{"type": "string"}]}}}`), "in properties/a: items is a list, which only draft-07 knows"},
		{"prefix items of old", parameters(`{"type": "object", "$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"prefixItems": [{}]}}}`), "prefixItems is not known to draft-07"},
		{"property that is null", parameters(`{"type": "object", "properties": {"a": null}}`), "parameters: "},
		{"long schema", parameters(`{"type": "object", "description": "` + strings.Repeat("d", 64<<10) + `"}`), "parameters: it is longer than 64 KiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tools.ParseCustom([]byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ParseCustom = %v, %v; want an error with %q", got, err, tt.want)
			}
			if err != nil && (len(err.Error()) > 500 || strings.Contains(err.Error(), "\n")) {
				t.Errorf("the error is no line: %q", err)
			}
		})
	}
}

// TestParseCustomRecursive: a schema may go on within the value.
func TestParseCustomRecursive(t *testing.T) {
	c := parseCustom(t, `{"name": "x", "description": "X.", "command": "x", "parameters": {"type": "object",
	  "properties": {"tree": {"$ref": "#/$defs/node"}},
	  "$defs": {"node": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "additionalProperties": false}}}}`)
	for _, tt := range []struct {
		args  string
		wrong bool
	}{
		{`{"tree":{"children":[{"children":[]}]}}`, false},
		{`{"tree":{"children":[{"leaves":[]}]}}`, true},
	} {
		res, err := callCustom(t, c, tt.args, nil, runsNothing)
		if err != nil || res.IsError != tt.wrong {
			t.Errorf("with %s: %+v, %v", tt.args, res, err)
		}
	}
}

// TestParseCustomWide: what is many for the whole schema is not for one value,
// and a recursion that takes each value once is none that doubles.
func TestParseCustomWide(t *testing.T) {
	var wide strings.Builder
	for i := range 1300 {
		fmt.Fprintf(&wide, `"p%d": {"$ref": "#/$defs/a"},`, i)
	}
	for name, schema := range map[string]string{
		"wide":   `"properties": {` + wide.String() + `"z": {}}, "$defs": {"a": {"anyOf": [{}, {}, {}, {}, {}, {}, {}]}}`,
		"tree":   `"properties": {"t": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"properties": {"left": {"$ref": "#/$defs/t"}, "right": {"$ref": "#/$defs/t"}}}}`,
		"option": `"properties": {"t": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"properties": {"c": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/t"}}, {"type": "null"}]}}}}`,
		"old":    `"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"items": [{"type": "string"}]}}`,
		"new":    `"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"a": {"prefixItems": [{"type": "string"}]}}`,
		"JSON":   `"additionalProperties": {"$ref": "#/$defs/v"}, "$defs": {"v": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/v"}}, {"type": "object", "additionalProperties": {"$ref": "#/$defs/v"}}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			parseCustom(t, `{"name": "x", "description": "X.", "command": "x", "parameters": {"type": "object", `+schema+`}}`)
		})
	}
}

func TestBuiltIn(t *testing.T) {
	for name, want := range map[string]bool{"bash": true, "apply_patch": true, "read_file": true, "custom": false, "count": false, "": false, "../tools/bash": false} {
		if got := tools.BuiltIn(name); got != want {
			t.Errorf("BuiltIn(%q) = %v, want %v", name, got, want)
		}
	}
}
