package tools

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Bounds of what is done to hold a value against a schema.
const (
	// maxSchemaSteps is the number of schemas for one value. References to
	// references that each name others twice double with each.
	maxSchemaSteps = 10_000
	// maxSchemaWork is that of all values together that a schema names, while it
	// is looked at.
	maxSchemaWork = 100_000
)

// A schemaCost counts what checking a value against a schema takes, as the
// library does it: every branch is tried, and again for each value within. A
// reference that leads back to itself before it goes into the value would never
// end. A schema that goes on within the value by two ways at once would double
// with each level of it. Only references to definitions of the whole are taken,
// which is all that providers take.
type schemaCost struct {
	whole *jsonschema.Schema
	known map[*jsonschema.Schema]cost
	work  int
}

// A cost is the most schemas that one value is held against, and whether the
// schema goes on within the value for as long as that does.
type cost struct {
	most      int
	recursive bool
}

func newSchemaCost(whole *jsonschema.Schema) *schemaCost {
	return &schemaCost{whole: whole, known: make(map[*jsonschema.Schema]cost)}
}

// of is the cost of a schema. One that is met again while its cost is looked for
// is recursive.
func (c *schemaCost) of(s *jsonschema.Schema) (cost, error) {
	if known, ok := c.known[s]; ok {
		return known, nil
	}
	c.known[s] = cost{recursive: true}
	held, err := c.together(nil, s, nil)
	if err != nil {
		return cost{}, err
	}
	sum := cost{most: len(held)}
	for _, ways := range belowAll(held) {
		one, err := c.sum(ways)
		if err != nil {
			return cost{}, err
		}
		sum.most = max(sum.most, one.most)
		sum.recursive = sum.recursive || one.recursive
	}
	c.known[s] = sum
	return sum, nil
}

// sum is the cost of the schemas that hold for one value within another.
func (c *schemaCost) sum(ways []*jsonschema.Schema) (cost, error) {
	var sum cost
	for _, s := range ways {
		one, err := c.of(s)
		switch {
		case err != nil:
			return cost{}, err
		case one.recursive && sum.recursive:
			return cost{}, errors.New("$ref leads back into the schema by two ways for the same value, which doubles with each level of it: name it once")
		}
		sum.recursive = sum.recursive || one.recursive
		if sum.most += one.most; sum.most > maxSchemaSteps {
			return cost{}, errSchemaSteps()
		}
	}
	return sum, nil
}

func errSchemaSteps() error {
	return fmt.Errorf("one value would be checked against more than %d schemas", maxSchemaSteps)
}

// together adds the schemas that hold for the same value as one does, below
// those that led to it. One is there as often as it is held against the value.
func (c *schemaCost) together(held []*jsonschema.Schema, s *jsonschema.Schema, above []*jsonschema.Schema) ([]*jsonschema.Schema, error) {
	if s == nil {
		return held, nil
	}
	c.work++
	switch {
	case slices.Contains(above, s):
		return nil, errors.New("$ref leads back to itself")
	case len(held) >= maxSchemaSteps:
		return nil, errSchemaSteps()
	case c.work > maxSchemaWork:
		return nil, fmt.Errorf("the schema leads to more than %d others: make it simpler", maxSchemaWork)
	}
	held, above = append(held, s), append(above, s)
	next := inPlace(s)
	if s.Ref != "" {
		target, err := referred(c.whole, s.Ref)
		if err != nil {
			return nil, err
		}
		next = append(next, subschema{"$ref", target})
	}
	for _, one := range next {
		var err error
		if held, err = c.together(held, one.schema, above); err != nil {
			return nil, err
		}
	}
	return held, nil
}

// belowAll are the schemas for each value within one that others hold for: those
// for its name or its index, with those that may hold for any.
func belowAll(held []*jsonschema.Schema) [][]*jsonschema.Schema {
	var anyField, anyItem []*jsonschema.Schema
	fields, items := make(map[string][]*jsonschema.Schema), make(map[string][]*jsonschema.Schema)
	var ways [][]*jsonschema.Schema
	for _, s := range held {
		for _, part := range below(s) {
			switch kind, _, one := strings.Cut(part.name, "/"); {
			case part.schema == nil || kind == "$defs" || kind == "definitions":
			case kind == "properties":
				fields[part.name] = append(fields[part.name], part.schema)
			case kind == "patternProperties" || kind == "additionalProperties" || kind == "unevaluatedProperties":
				anyField = append(anyField, part.schema)
			case kind == "propertyNames" || kind == "contentSchema": // of texts, which hold no values
				ways = append(ways, []*jsonschema.Schema{part.schema})
			case one:
				items[part.name] = append(items[part.name], part.schema)
			default:
				anyItem = append(anyItem, part.schema)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		ways = append(ways, append(fields[name], anyField...))
	}
	for _, name := range slices.Sorted(maps.Keys(items)) {
		ways = append(ways, append(items[name], anyItem...))
	}
	return append(ways, anyField, anyItem)
}

// unnamed refuses what gives a schema a name beside its place: a reference in it, or
// to it, would lead elsewhere than its pointer says.
func unnamed(s *jsonschema.Schema, whole bool) error {
	switch {
	case s.ID != "" && !whole:
		return errors.New("$id is taken at the top alone: remove it")
	case s.Anchor != "" || s.DynamicAnchor != "":
		return errors.New("$anchor and $dynamicAnchor are not taken: name the schema in $defs")
	case s.DynamicRef != "":
		return errors.New("$dynamicRef is not taken: use $ref")
	}
	return nil
}

// referred is the schema that a reference leads to. Names that a pointer would
// have to write in another way than the definition does are not taken.
func referred(whole *jsonschema.Schema, ref string) (*jsonschema.Schema, error) {
	if ref == "#" {
		return whole, nil
	}
	for prefix, defs := range map[string]map[string]*jsonschema.Schema{"#/$defs/": whole.Defs, "#/definitions/": whole.Definitions} {
		name, ok := strings.CutPrefix(ref, prefix)
		switch {
		case ok && strings.ContainsAny(name, "/~%"):
			return nil, fmt.Errorf("$ref %.64q has a /, ~ or %% in the name: give the definition another, and refer to it as %sNAME", ref, prefix)
		case ok && defs[name] != nil:
			return defs[name], nil
		}
	}
	return nil, fmt.Errorf("$ref %.64q leads nowhere: it names one of the schema's own $defs, as #/$defs/NAME", ref)
}
