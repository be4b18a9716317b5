package contract

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Ordered is a mapping in the order in which it was written, which is the order
// in which it is best read.
type Ordered[T any] []Member[T]

// Member is one entry of a mapping.
type Member[T any] struct {
	Name  string
	Value T
}

// Find returns the value of a name.
func (o Ordered[T]) Find(name string) (T, bool) {
	for _, m := range o {
		if m.Name == name {
			return m.Value, true
		}
	}
	var none T
	return none, false
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (o *Ordered[T]) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: not a mapping", node.Line)
	}
	*o = make(Ordered[T], 0, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		m := Member[T]{Name: node.Content[i].Value}
		if err := node.Content[i+1].Decode(&m.Value); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		*o = append(*o, m)
	}
	return nil
}
