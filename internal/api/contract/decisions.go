package contract

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Deciders are the roles that may make a call, or set a member of its body.
type Deciders struct {
	// Roles may always decide. CustomersMay are rights of the configuration: each of them allows customers to decide as well.
	Roles        []string `yaml:"x-decided-by"`    //nolint:tagliatelle // as OpenAPI writes extensions
	CustomersMay []string `yaml:"x-customers-may"` //nolint:tagliatelle // as above
}

// Decision is a member that a body has, with its schema. Field is its path, as Check names it.
type Decision struct {
	Field string
	*Schema
}

// Decisions lists the members that a body has, nested ones after their parents. It leaves out members with the value that
// decides nothing, and members that the schema does not have. The body is a value from ParseJSON.
func (d *Document) Decisions(s *Schema, body any) []Decision { return d.decisions(nil, s, body, "") }

func (d *Document) decisions(found []Decision, s *Schema, value any, field string) []Decision {
	s = d.Resolved(s)
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			if s.Items != nil {
				found = d.decisions(found, s.Items, item, join(field, strconv.Itoa(i)))
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			schema, known := s.Properties.Find(name)
			if !known || schema.DecidesNothing.is(v[name]) {
				continue
			}
			path := join(field, name)
			found = d.decisions(append(found, Decision{path, schema}), schema, v[name], path)
		}
	}
	return found
}

// Resolved is the schema that a reference names; a schema without a reference is returned unchanged.
func (d *Document) Resolved(s *Schema) *Schema {
	if s.Ref == "" {
		return s
	}
	named, _ := d.Components.Schemas.Find(s.Name())
	return named
}

// constant is a value of the document as compact JSON; empty if there is none.
type constant string

// UnmarshalYAML implements yaml.Unmarshaler.
func (c *constant) UnmarshalYAML(node *yaml.Node) error {
	*c = constant(literal(node))
	return nil
}

func (c constant) is(value any) bool {
	if c == "" {
		return false
	}
	text, err := json.Marshal(value)
	return err == nil && bytes.Equal(text, []byte(c))
}
