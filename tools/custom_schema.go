package tools

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// ParseParameters reads the schema of a tool's arguments that somebody else
// wrote. It must be sound, of an object, and whole in itself. A keyword that
// JSON Schema does not know is an error, unless it begins with x-: it is most
// likely a slip, and what it was to say would not be checked.
func ParseParameters(raw json.RawMessage) (*jsonschema.Schema, error) {
	var schema *jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, fmt.Errorf("it is no JSON Schema: %w", plainJSON(err))
	}
	if schema == nil || schema.Type != "object" {
		return nil, errors.New(`it is not the schema of an object: {"type": "object", "properties": {...}}`)
	}
	if err := checkVersion(schema.Schema); err != nil {
		return nil, err
	}
	check := newSchemaCost(schema)
	for at, part := range allSchemas(schema, "") {
		for _, name := range append(slices.Clone(part.Types), part.Type) {
			if name != "" && !slices.Contains(schemaTypes(), name) {
				return nil, fmt.Errorf("the type %.64q is in %s; the types are %s", name, schemaPlace(at), list(schemaTypes()))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(part.Extra)) {
			if !strings.HasPrefix(name, "x-") {
				return nil, fmt.Errorf("%q, which JSON Schema does not know, is in %s: mend or remove it", name, schemaPlace(at))
			}
		}
		if err := cmp.Or(unnamed(part, part == schema), checkKeywords(part, schema.Schema)); err != nil {
			return nil, fmt.Errorf("in %s: %w", schemaPlace(at), err)
		}
		if _, err := check.together(nil, part, nil); err != nil {
			return nil, fmt.Errorf("in %s: %w", schemaPlace(at), err)
		}
	}
	if _, err := check.of(schema); err != nil {
		return nil, err
	}
	if _, err := schema.Resolve(nil); err != nil {
		return nil, fmt.Errorf("it is no JSON Schema: %w", err)
	}
	schema.PropertyOrder = propertyOrder(raw)
	return schema, nil
}

// checkVersion refuses a version of JSON Schema that no call could be held
// against.
func checkVersion(version string) error {
	probe, err := (&jsonschema.Schema{Schema: version}).Resolve(nil)
	if err == nil {
		err = probe.Validate(map[string]any{})
	}
	if err != nil {
		return fmt.Errorf("its $schema is %.80q; leave it out, or name draft-07 or 2020-12 as https://json-schema.org/draft/2020-12/schema", version)
	}
	return nil
}

// checkKeywords refuses what would be checked in no way, or let nothing pass.
func checkKeywords(s *jsonschema.Schema, version string) error {
	switch {
	case s.MultipleOf != nil && *s.MultipleOf <= 0:
		return errors.New("multipleOf is not above zero")
	case s.ItemsArray != nil && !strings.Contains(version, "/draft-07/"):
		return errors.New("items is a list, which only draft-07 knows: name it prefixItems")
	case s.PrefixItems != nil && strings.Contains(version, "/draft-07/"):
		return errors.New("prefixItems is not known to draft-07: name it items")
	}
	return nil
}

// schemaTypes are the types that JSON Schema knows.
func schemaTypes() []string {
	return []string{"array", "boolean", "integer", "null", "number", "object", "string"}
}

// inField names a field, where one is known.
func inField(field string) string {
	if field == "" {
		return ""
	}
	return " in " + field
}

// propertyOrder is the names of the properties as they were written down: their order
// is one for a reader, and a model is one.
func propertyOrder(raw json.RawMessage) []string {
	var schema struct {
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(raw, &schema) != nil {
		return nil
	}
	var names []string
	dec := json.NewDecoder(strings.NewReader(string(schema.Properties)))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			return nil
		}
		text, _ := name.(string)
		names = append(names, text)
	}
	return names
}

// schemaPlace names a part of a schema.
func schemaPlace(at string) string {
	if at == "" {
		return "the schema itself"
	}
	return strings.TrimPrefix(at, "/")
}

// allSchemas are a schema and all schemas in it, with their places.
func allSchemas(s *jsonschema.Schema, at string) iter.Seq2[string, *jsonschema.Schema] {
	return func(yield func(string, *jsonschema.Schema) bool) { walkSchemas(s, at, yield) }
}

// walkSchemas goes on until yield says no.
func walkSchemas(s *jsonschema.Schema, at string, yield func(string, *jsonschema.Schema) bool) bool {
	if s == nil {
		return true
	}
	if !yield(at, s) {
		return false
	}
	for _, one := range inPlace(s) {
		if !walkSchemas(one.schema, at+"/"+one.name, yield) {
			return false
		}
	}
	for _, one := range below(s) {
		if !walkSchemas(one.schema, at+"/"+one.name, yield) {
			return false
		}
	}
	return true
}

// A subschema is a schema within one.
type subschema struct {
	name   string
	schema *jsonschema.Schema
}

// inPlace are the schemas that hold for the same value.
func inPlace(s *jsonschema.Schema) []subschema {
	list := []subschema{{"not", s.Not}, {"if", s.If}, {"then", s.Then}, {"else", s.Else}}
	list = append(list, indexed("allOf", s.AllOf)...)
	list = append(list, indexed("anyOf", s.AnyOf)...)
	list = append(list, indexed("oneOf", s.OneOf)...)
	list = append(list, mapped("dependentSchemas", s.DependentSchemas)...)
	return append(list, mapped("dependencies", s.DependencySchemas)...)
}

// below are the schemas that hold for values within it, or where they are
// referred to.
func below(s *jsonschema.Schema) []subschema {
	list := []subschema{
		{"items", s.Items}, {"additionalItems", s.AdditionalItems}, {"contains", s.Contains}, {"unevaluatedItems", s.UnevaluatedItems},
		{"additionalProperties", s.AdditionalProperties}, {"propertyNames", s.PropertyNames},
		{"unevaluatedProperties", s.UnevaluatedProperties}, {"contentSchema", s.ContentSchema},
	}
	list = append(list, indexed("prefixItems", s.PrefixItems)...)
	list = append(list, indexed("items", s.ItemsArray)...)
	list = append(list, mapped("properties", s.Properties)...)
	list = append(list, mapped("patternProperties", s.PatternProperties)...)
	list = append(list, mapped("$defs", s.Defs)...)
	return append(list, mapped("definitions", s.Definitions)...)
}

func indexed(name string, schemas []*jsonschema.Schema) []subschema {
	var list []subschema
	for i, s := range schemas {
		list = append(list, subschema{fmt.Sprintf("%s/%d", name, i), s})
	}
	return list
}

func mapped(name string, schemas map[string]*jsonschema.Schema) []subschema {
	var list []subschema
	for _, key := range slices.Sorted(maps.Keys(schemas)) {
		list = append(list, subschema{name + "/" + key, schemas[key]})
	}
	return list
}
