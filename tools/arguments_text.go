package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/belljar/belljar/internal/output"
)

// Bounds of what a model is told of wrong arguments: it goes into its history.
const (
	shownValue   = 100  // characters of a value
	shownChoices = 20   // values that there may be
	shownProblem = 2000 // characters of what the library says
)

// shortened is a text within the bound of each other result.
func shortened(text string) string { return cut(text, ShownOutput) }

// cut keeps the beginning and the end of a text, in characters.
func cut(text string, most int) string {
	capture := output.NewCapture(most)
	_, _ = capture.Write([]byte(text))
	return capture.String()
}

// valueText is a value as JSON, within bounds.
func valueText(value any) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return typeOf(value)
	}
	text := []rune(strings.TrimSpace(out.String()))
	if len(text) > shownValue {
		return string(text[:shownValue]) + "…"
	}
	return string(text)
}

// choices are the values that there may be, within bounds.
func choices(values []any) string {
	var list []string
	for _, value := range values[:min(len(values), shownChoices)] {
		list = append(list, valueText(value))
	}
	text := strings.Join(list, ", ")
	if more := len(values) - len(list); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// libraryText is what the library says, without the inside of it: it names
// schemas that have no name.
func libraryText(err error) string {
	unnamed := regexp.MustCompile(`\[<anonymous schema>( <anonymous schema>)*\]`)
	return cut(unnamed.ReplaceAllString(err.Error(), "its schemas"), shownProblem)
}

// typeOf names the type of a JSON value.
func typeOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case float64:
		if v != math.Trunc(v) {
			return "a number with a fraction"
		}
		return "a number"
	case []any:
		return "an array"
	default:
		return "an object"
	}
}

// wanted names the type that a schema asks for.
func wanted(schema *jsonschema.Schema) string {
	switch {
	case schema != nil && schema.Type != "":
		return typeName(schema.Type)
	case schema == nil || len(schema.Types) == 0:
		return "any value"
	}
	var names []string
	for _, name := range schema.Types {
		names = append(names, typeName(name))
	}
	return strings.Join(names, " or ")
}

// typeName is a type with its article.
func typeName(name string) string {
	switch {
	case name == "null":
		return name
	case strings.ContainsRune("aeiou", rune(name[0])):
		return "an " + name
	default:
		return "a " + name
	}
}

// fieldList names the fields of a schema in its order.
func fieldList(schema *jsonschema.Schema) string {
	names := schema.PropertyOrder
	if len(names) < len(schema.Properties) {
		names = slices.Sorted(maps.Keys(schema.Properties))
	}
	if len(names) == 0 {
		return "none"
	}
	list := make([]string, len(names))
	for i, name := range names {
		need := "optional"
		if slices.Contains(schema.Required, name) {
			need = "required"
		}
		list[i] = fmt.Sprintf("%s (%s, %s)", name, wanted(schema.Properties[name]), need)
	}
	return strings.Join(list, ", ")
}

func schemaText(schema *jsonschema.Schema) string {
	text, err := json.Marshal(schema)
	if err != nil {
		return "(it cannot be shown: " + err.Error() + ")"
	}
	return string(text)
}
