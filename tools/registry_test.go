package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/belljar/belljar/tools"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// A stub is a tool that answers with its arguments, or by do.
type stub struct {
	name   string
	schema *jsonschema.Schema
	effect tools.Effect
	do     func() (tools.Result, error)
}

func (s stub) Definition() tools.Definition {
	return tools.Definition{Name: s.name, Schema: s.schema, Effect: s.effect}
}

func (s stub) Execute(_ context.Context, args json.RawMessage) (tools.Result, error) {
	if s.do != nil {
		return s.do()
	}
	return tools.Text("ran with " + string(args)), nil
}

// A streaming stub writes to out as well.
type streaming struct{ stub }

func (s streaming) ExecuteTo(ctx context.Context, args json.RawMessage, out io.Writer) (tools.Result, error) {
	if _, err := io.WriteString(out, "raw"); err != nil {
		return tools.Result{}, err
	}
	return s.Execute(ctx, args)
}

func schema(t *testing.T, text string) *jsonschema.Schema {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

const stubSchema = `{"type":"object","additionalProperties":false,"required":["path"],
	"properties":{"path":{"type":"string"},"count":{"type":"integer","minimum":1},"ratio":{"type":"number"},"deep":{"type":"object"},"all":{"type":"boolean"},"list":{"type":"array"}}}`

// text is the only part of a result.
func text(t *testing.T, res tools.Result) string {
	t.Helper()
	if len(res.Parts) != 1 {
		t.Fatalf("%d parts: %+v", len(res.Parts), res)
	}
	return res.Parts[0].Text
}

func TestRegister(t *testing.T) {
	good := schema(t, `{"type":"object"}`)
	var r tools.Registry
	for _, name := range []string{"zebra", "ape", "mole"} {
		if err := r.Register(stub{name: name, schema: good, effect: tools.Write}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		tool tools.Tool
		want string
	}{
		{"duplicate", stub{name: "ape", schema: good}, "already"},
		{"no name", stub{schema: good}, "letters"},
		{"name with a space", stub{name: "a b", schema: good}, "letters"},
		{"name that is too long", stub{name: strings.Repeat("n", 65), schema: good}, "letters"},
		{"no schema", stub{name: "x"}, "schema"},
		{"not an object", stub{name: "x", schema: schema(t, `{"type":"string"}`)}, "object"},
		{"unsound schema", stub{name: "x", schema: schema(t, `{"type":"object","$ref":"#/none"}`)}, "registering"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := r.Register(tt.tool); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Register = %v, want an error with %q", err, tt.want)
			}
		})
	}
	var names []string
	for _, def := range r.Definitions() {
		names = append(names, def.Name)
	}
	if diff := cmp.Diff([]string{"zebra", "ape", "mole"}, names); diff != "" {
		t.Errorf("order of definitions (-want +got):\n%s", diff)
	}
	if effect, ok := r.Effect("mole"); effect != tools.Write || !ok {
		t.Errorf("Effect(mole) = %v, %v", effect, ok)
	}
	if _, ok := r.Effect("none"); ok {
		t.Error("Effect of an unknown tool")
	}
}

func TestExecuteUnknownTool(t *testing.T) {
	var r tools.Registry
	res, err := r.Execute(t.Context(), "x", nil)
	if err != nil || !res.IsError || !strings.Contains(text(t, res), "there are no tools") {
		t.Errorf("Execute on an empty registry = %+v, %v", res, err)
	}
	for _, name := range []string{"one", "two"} {
		if err := r.Register(stub{name: name, schema: schema(t, `{"type":"object"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	res, err = r.Execute(t.Context(), "run_shell", nil)
	if want := `there is no tool "run_shell"; the tools are: one, two`; err != nil || !res.IsError || text(t, res) != want {
		t.Errorf("Execute = %+v, %v, want %q", res, err, want)
	}
}

var argumentTests = []struct {
	name, args string
	want       []string // in the answer; none: the tool runs
}{
	{"fits", `{"path":"a","count":3,"ratio":0.5,"deep":{},"all":true,"list":[]}`, nil},
	{"a whole number in another spelling", `{"path":"a","count":3.0}`, nil},
	{"a whole number for a number", `{"path":"a","ratio":2}`, nil},
	{"null for an optional field", `{"path":"a","count":null}`, nil},
	{"white space around", " {\"path\":\"a\"}\n", nil},
	{"blank", "", []string{`"path" is missing (a string)`}},
	{"spaces", "  ", []string{`"path" is missing`}},
	{"null", "null", []string{`"path" is missing`}},
	{"null for a required field", `{"path":null}`, []string{`"path" is null, and must be a string`}},
	{"wrong type", `{"path":["a"]}`, []string{`"path" is an array, and must be a string`}},
	{"string for a number", `{"path":"a","count":"3"}`, []string{`"count" is a string, and must be an integer`}},
	{"fraction", `{"path":"a","count":1.5}`, []string{"number with a fraction", "an integer"}},
	{"number for an object", `{"path":"a","deep":1}`, []string{`"deep" is a number, and must be an object`}},
	{"unknown field", `{"path":"a","file":"b"}`, []string{`"file" is unknown`, "path (a string, required), count (an integer, optional)"}},
	{"other case", `{"Path":"a"}`, []string{`"Path" is unknown`, `"path" is missing`}},
	{"several at once", `{"count":true,"x":1}`, []string{`"path" is missing`, `"count" is a boolean`, `"x" is unknown`}},
	{"under the minimum", `{"path":"a","count":0}`, []string{"minimum"}},
	{"cut off", `{"path":"a"`, []string{"unexpected end", `"properties"`}},
	{"two objects", `{"path":"a"}{"path":"b"}`, []string{"after top-level value", `"properties"`}},
	{"encoded twice", `"{\"path\":\"a\"}"`, []string{"a string, not an object", `"properties"`}},
	{"array", `[]`, []string{"an array, not an object"}},
	{"not JSON", `path=a`, []string{"invalid character"}},
	{"a field twice", `{"path":"a","deep":{"path":1,"path":2},"path":"b"}`, []string{`"path" is there twice`}},
	{"a field twice within another", `{"path":"a","deep":[{"path":1,"path":2}]}`, []string{`"path" is there twice`}},
	{"not UTF-8", "{\"path\":\"\xff\"}", []string{"not valid UTF-8"}},
}

func stubRegistry(t *testing.T) *tools.Registry {
	t.Helper()
	s := schema(t, stubSchema)
	s.PropertyOrder = []string{"path", "count", "ratio", "deep", "all", "list"}
	var r tools.Registry
	if err := r.Register(stub{name: "stub", schema: s}); err != nil {
		t.Fatal(err)
	}
	return &r
}

func TestExecuteChecksArguments(t *testing.T) {
	r := stubRegistry(t)
	for _, tt := range argumentTests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := r.Execute(t.Context(), "stub", json.RawMessage(tt.args))
			if err != nil {
				t.Fatal(err)
			}
			got := text(t, res)
			if ran := strings.HasPrefix(got, "ran with"); ran != (tt.want == nil) || res.IsError == ran {
				t.Fatalf("Execute = %+v, want it to run: %v", res, tt.want == nil)
			}
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("answer %q lacks %q", got, want)
				}
			}
		})
	}
}

func TestExecuteBlankArgumentsAreAnEmptyObject(t *testing.T) {
	var r tools.Registry
	if err := r.Register(stub{name: "stub", schema: schema(t, `{"type":"object","additionalProperties":false}`)}); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"", " \n", "null", "{}"} {
		res, err := r.Execute(t.Context(), "stub", json.RawMessage(args))
		if err != nil || text(t, res) != "ran with {}" {
			t.Errorf("with %q: %+v, %v", args, res, err)
		}
	}
	res, err := r.Execute(t.Context(), "stub", json.RawMessage(`{"x":1}`))
	if err != nil || !strings.Contains(text(t, res), "fields are: none") {
		t.Errorf("with a field: %+v, %v", res, err)
	}
}

// TestExecuteGoesBySchema: a schema may allow for more than fields that it names
// one by one, and what a tool is given fits its schema.
func TestExecuteGoesBySchema(t *testing.T) {
	for _, tt := range []struct{ name, schema, args, want string }{
		{"other fields", `{"type":"object","properties":{"a":{"type":"string"}}}`, `{"b":1}`, `ran with {"b":1}`},
		{"other fields of a type", `{"type":"object","additionalProperties":{"type":"string"}}`, `{"b":1}`, "additionalProperties"},
		{"fields by pattern", `{"type":"object","patternProperties":{"^x-":{}},"additionalProperties":false}`, `{"x-b":1}`, `ran with {"x-b":1}`},
		{"fields not by pattern", `{"type":"object","patternProperties":{"^x-":{}},"additionalProperties":false}`, `{"b":1}`, "wrong"},
		{"map in a field", `{"type":"object","properties":{"env":{"type":"object","properties":{"A":{}}}}}`, `{"env":{"B":"b"}}`, `ran with {"env":{"B":"b"}}`},
		{"null left out", `{"type":"object","properties":{"n":{"type":"integer"},"a":{"type":"string"}}}`, `{"a":null,"n":12345678901234567890}`, `ran with {"n":12345678901234567890}`},
		{"null within", `{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"s":{"type":"string"}}}}}}`, `{"l":[{"s":null,"t":"<"}]}`, `ran with {"l":[{"t":"<"}]}`},
		{"null that is allowed", `{"type":"object","properties":{"a":{"type":["string","null"]}}}`, `{"a":null}`, `ran with {"a":null}`},
		{"one of several types", `{"type":"object","properties":{"a":{"type":["string","null"]}}}`, `{"a":1}`, "wrong"},
		{"reference", `{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"minimum":3}}}`, `{"a":2}`, "minimum"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r tools.Registry
			if err := r.Register(stub{name: "stub", schema: schema(t, tt.schema)}); err != nil {
				t.Fatal(err)
			}
			res, err := r.Execute(t.Context(), "stub", json.RawMessage(tt.args))
			if got := text(t, res); err != nil || !strings.Contains(got, tt.want) || res.IsError == strings.HasPrefix(tt.want, "ran") {
				t.Errorf("Execute = %+v, %v, want %q", res, err, tt.want)
			}
		})
	}
}

func TestExecutePanicAndError(t *testing.T) {
	var r tools.Registry
	lost := errors.New("sandbox is lost")
	s := schema(t, `{"type":"object"}`)
	for name, do := range map[string]func() (tools.Result, error){
		"panics": func() (tools.Result, error) { panic("index out of range") },
		"fails":  func() (tools.Result, error) { return tools.Result{}, lost },
	} {
		if err := r.Register(stub{name: name, schema: s, do: do}); err != nil {
			t.Fatal(err)
		}
	}
	res, err := r.Execute(t.Context(), "panics", nil)
	if err != nil || !res.IsError || !strings.Contains(text(t, res), "index out of range") {
		t.Errorf("a panic: %+v, %v", res, err)
	}
	if _, err := r.Execute(t.Context(), "fails", nil); !errors.Is(err, lost) {
		t.Errorf("an error of the tool came back as %v", err)
	}
}

func TestExecuteTo(t *testing.T) {
	var r tools.Registry
	s := schema(t, `{"type":"object"}`)
	for _, tool := range []tools.Tool{streaming{stub{name: "streams", schema: s}}, stub{name: "plain", schema: s}} {
		if err := r.Register(tool); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"streams": "raw", "plain": ""} {
		var out bytes.Buffer
		res, err := r.ExecuteTo(t.Context(), name, nil, &out)
		if err != nil || res.IsError || out.String() != want {
			t.Errorf("%s: %+v, %v, raw output %q", name, res, err, out.String())
		}
	}
	if res, err := r.Execute(t.Context(), "streams", nil); err != nil || res.IsError {
		t.Errorf("without a writer: %+v, %v", res, err)
	}
}

func FuzzArguments(f *testing.F) {
	for _, tt := range argumentTests {
		f.Add([]byte(tt.args))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		r := stubRegistry(t)
		res, err := r.Execute(t.Context(), "stub", args)
		if err != nil {
			t.Fatal(err)
		}
		if res.IsError {
			return
		}
		// What runs must have the shape of the schema for a tool that decodes it.
		var in struct {
			Path  *string        `json:"path"`
			Count *float64       `json:"count"`
			Deep  map[string]any `json:"deep"`
		}
		ran := strings.TrimPrefix(text(t, res), "ran with ")
		if err := json.Unmarshal([]byte(ran), &in); err != nil || in.Path == nil {
			t.Errorf("ran with %q: %v", ran, err)
		}
	})
}
