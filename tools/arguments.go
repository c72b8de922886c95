package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/belljar/belljar/internal/strictjson"
)

// object is the schema of arguments with the given fields in their order, of
// which the first required ones must be there. No other field is allowed.
func object(required int, fields ...field) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type:                 "object",
		Properties:           make(map[string]*jsonschema.Schema),
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for i, f := range fields {
		s.Properties[f.name] = &jsonschema.Schema{Type: f.typ, Description: f.text}
		s.PropertyOrder = append(s.PropertyOrder, f.name)
		if i < required {
			s.Required = append(s.Required, f.name)
		}
	}
	return s
}

type field struct{ name, typ, text string }

// checkArguments holds a call's arguments against the tool's schema. It gives
// them back as one object, or says to the model what is wrong. Blank arguments
// stand for an empty object, and null for a field that was left out.
func checkArguments(e *entry, args json.RawMessage) (json.RawMessage, string) {
	if text := bytes.TrimSpace(args); len(text) == 0 || string(text) == "null" {
		args = json.RawMessage("{}")
	}
	fields, err := parseObject(args)
	if err != nil {
		return nil, shortened(fmt.Sprintf("the arguments of %s could not be read, so it was not run: %v\nThey must be one JSON object of this schema: %s",
			e.def.Name, err, schemaText(e.def.Schema)))
	}
	problems := e.problems(fields)
	for _, surely := range []bool{true, false} {
		if len(problems) == 0 || !dropNulls(e.def.Schema, fields, surely) {
			continue
		}
		args = withoutNulls(e.def.Schema, args, surely)
		if left := e.problems(fields); surely || len(left) == 0 {
			problems = left
		}
	}
	if len(problems) > 0 {
		return nil, shortened(fmt.Sprintf("the arguments of %s are wrong, so it was not run:\n- %s\nIts fields are: %s",
			e.def.Name, strings.Join(problems, "\n- "), fieldList(e.def.Schema)))
	}
	return args, ""
}

// problems says what is wrong with the fields of a call.
func (e *entry) problems(fields map[string]any) []string {
	problems := shapeProblems(e.def.Schema, fields)
	if len(problems) == 0 {
		// What the plain words do not cover, such as bounds.
		if err := e.schema.Validate(fields); err != nil {
			problems = append(problems, libraryText(err))
		}
	}
	return problems
}

// withoutNulls writes arguments again without what dropNulls takes away. Numbers
// stay as they were written.
func withoutNulls(schema *jsonschema.Schema, args json.RawMessage, surely bool) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	var fields map[string]any
	if dec.Decode(&fields) != nil {
		return args
	}
	dropNulls(schema, fields, surely)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(fields) != nil {
		return args
	}
	return bytes.TrimSpace(out.Bytes())
}

// parseObject reads exactly one JSON object. A field that is there twice is an
// error: which one was meant cannot be told.
func parseObject(args json.RawMessage) (map[string]any, error) {
	if !utf8.Valid(args) {
		return nil, fmt.Errorf("they are not valid UTF-8")
	}
	var value any
	if err := json.Unmarshal(args, &value); err != nil {
		return nil, err
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("they are %s, not an object", typeOf(value))
	}
	return fields, strictjson.Unique(args)
}

// dropNulls takes fields away that are null and need not be there, within arrays
// and other objects as well, and tells whether there were any: for a field that
// may be left out, many models send null. Surely: only those that may not be null
// by what is plain to see.
func dropNulls(schema *jsonschema.Schema, value any, surely bool) (dropped bool) {
	if schema == nil {
		return false
	}
	switch v := value.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(name string, value any) bool {
			drop := value == nil && !slices.Contains(schema.Required, name) && (!surely || refusesNull(schema, name))
			dropped = dropped || drop
			return drop
		})
		for name, value := range v {
			dropped = dropNulls(schema.Properties[name], value, surely) || dropped
		}
	case []any:
		for _, value := range v {
			dropped = dropNulls(schema.Items, value, surely) || dropped
		}
	}
	return dropped
}

// refusesNull tells whether the types or the values that a schema names for a field
// leave no null, or whether there can be no such field.
func refusesNull(schema *jsonschema.Schema, name string) bool {
	field, known := schema.Properties[name]
	switch {
	case !known:
		return closed(schema)
	case field.Type != "" && field.Type != "null":
		return true
	case len(field.Types) > 0 && !slices.Contains(field.Types, "null"):
		return true
	}
	return len(field.Enum) > 0 && !slices.Contains(field.Enum, nil)
}

// shapeProblems says in plain words what is wrong with the fields themselves,
// and with those of objects in them.
func shapeProblems(schema *jsonschema.Schema, fields map[string]any) []string {
	return objectProblems(schema, fields, "")
}

// objectProblems is that of an object at a place, which ends in a dot.
func objectProblems(schema *jsonschema.Schema, fields map[string]any, at string) []string {
	var problems []string
	for _, name := range schema.Required {
		if _, there := fields[name]; !there {
			problems = append(problems, fmt.Sprintf("%q is missing (%s)", at+name, wanted(schema.Properties[name])))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		prop, known := schema.Properties[name]
		switch {
		case known:
			problems = append(problems, valueProblems(prop, fields[name], at+name)...)
		case !closed(schema): // the whole schema says what else there may be
		case at == "":
			problems = append(problems, fmt.Sprintf("%q is unknown", name))
		default:
			problems = append(problems, fmt.Sprintf("%q is unknown; what may be there: %s", at+name, fieldList(schema)))
		}
	}
	return problems
}

// closed tells whether an object has no other fields than those that its schema
// names one by one.
func closed(schema *jsonschema.Schema) bool {
	none := &jsonschema.Schema{Not: &jsonschema.Schema{}}
	return len(schema.PatternProperties) == 0 && reflect.DeepEqual(schema.AdditionalProperties, none)
}

// valueProblems is that of one value.
func valueProblems(schema *jsonschema.Schema, value any, at string) []string {
	if !fits(schema, value) {
		return []string{fmt.Sprintf("%q is %s, and must be %s", at, typeOf(value), wanted(schema))}
	}
	if len(schema.Enum) > 0 && !slices.ContainsFunc(schema.Enum, func(one any) bool { return reflect.DeepEqual(one, value) }) {
		return []string{fmt.Sprintf("%q is %s, and must be one of %s", at, valueText(value), choices(schema.Enum))}
	}
	var problems []string
	switch v := value.(type) {
	case map[string]any:
		if len(schema.Properties) > 0 {
			problems = objectProblems(schema, v, at+".")
		}
	case []any:
		for i, item := range v {
			if schema.Items != nil && len(problems) < maxProblems {
				problems = append(problems, valueProblems(schema.Items, item, fmt.Sprintf("%s[%d]", at, i))...)
			}
		}
	}
	return problems
}

func fits(schema *jsonschema.Schema, value any) bool {
	switch v := value.(type) {
	case nil:
		return schema.Type == "" || schema.Type == "null"
	case bool:
		return schema.Type == "" || schema.Type == "boolean"
	case string:
		return schema.Type == "" || schema.Type == "string"
	case float64:
		return schema.Type == "" || schema.Type == "number" || schema.Type == "integer" && v == math.Trunc(v)
	case []any:
		return schema.Type == "" || schema.Type == "array"
	default:
		return schema.Type == "" || schema.Type == "object"
	}
}
