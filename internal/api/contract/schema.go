package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Schema is as much of a JSON Schema as the contract uses.
type Schema struct {
	Ref         string `yaml:"$ref"`
	Type        types
	Description string
	Format      string
	Pattern     pattern
	// Hint describes the values that Pattern or Format allow.
	Hint string `yaml:"x-hint"` //nolint:tagliatelle // as OpenAPI writes extensions
	Enum []string
	// Extensible is true where later versions may add values to Enum.
	Extensible bool `yaml:"x-extensible-enum"` //nolint:tagliatelle // as OpenAPI writes extensions
	Const      string
	Default    string

	Deciders `yaml:",inline"`
	// DecidesNothing is the value that every role may send. RefusedAs is the code of the problem where a role may not set
	// the member; empty for forbidden.
	DecidesNothing constant `yaml:"x-decides-nothing"` //nolint:tagliatelle // as OpenAPI writes extensions
	RefusedAs      string   `yaml:"x-refused-as"`      //nolint:tagliatelle // as above

	Minimum, Maximum *int64
	MinLength        int  `yaml:"minLength"` //nolint:tagliatelle // OpenAPI names its members
	MaxLength        *int `yaml:"maxLength"` //nolint:tagliatelle // as above

	Properties    Ordered[*Schema]
	Required      []string
	Additional    additional `yaml:"additionalProperties"` //nolint:tagliatelle // as above
	MaxProperties *int       `yaml:"maxProperties"`        //nolint:tagliatelle // as above
	// MaxBytes bounds an object with arbitrary members, as compact JSON.
	MaxBytes      *int    `yaml:"x-max-bytes"`   //nolint:tagliatelle // as OpenAPI writes extensions
	PropertyNames *Schema `yaml:"propertyNames"` //nolint:tagliatelle // as above

	Items    *Schema
	MaxItems *int      `yaml:"maxItems"` //nolint:tagliatelle // as above
	OneOf    []*Schema `yaml:"oneOf"`    //nolint:tagliatelle // as above
	AllOf    []*Schema `yaml:"allOf"`    //nolint:tagliatelle // as above
}

// Name is the name of a schema that is one of the components.
func (s *Schema) Name() string {
	if s == nil || s.Ref == "" {
		return ""
	}
	return lastPart(s.Ref)
}

// TypeText is the type in words.
func (s *Schema) TypeText() string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return s.Name()
	case len(s.OneOf) > 0:
		options := make([]string, len(s.OneOf))
		for i, o := range s.OneOf {
			options[i] = o.TypeText()
		}
		return strings.Join(options, " or ")
	case s.Items != nil:
		return "list of " + s.Items.TypeText()
	case s.Additional.Schema != nil:
		return "map of " + s.Additional.Schema.TypeText()
	case len(s.Enum) > 0:
		return strings.Join(s.Enum, ", ")
	case len(s.Type) == 0:
		return "anything"
	}
	return strings.Join(s.Type, " or ")
}

// Requires reports whether a member must be there.
func (s *Schema) Requires(name string) bool {
	return slices.Contains(s.Required, name)
}

// pattern is compiled once and used at each request.
type pattern struct{ *regexp.Regexp }

// UnmarshalYAML implements yaml.Unmarshaler.
func (p *pattern) UnmarshalYAML(node *yaml.Node) (err error) {
	if p.Regexp, err = regexp.Compile(node.Value); err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	return nil
}

// types is one type or several.
type types []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (t *types) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*t = types{node.Value}
		return nil
	}
	if err := node.Decode((*[]string)(t)); err != nil {
		return fmt.Errorf("type: %w", err)
	}
	return nil
}

// additional is the rule for members that Properties does not name.
type additional struct {
	Forbidden bool
	Schema    *Schema
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (a *additional) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		a.Forbidden = node.Value == "false"
		return nil
	}
	if err := node.Decode(&a.Schema); err != nil {
		return fmt.Errorf("additionalProperties: %w", err)
	}
	return nil
}
