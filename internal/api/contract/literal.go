package contract

import (
	"bytes"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
)

// literal writes a value of the document as compact JSON, its members in the order in which they stand there.
func literal(n *yaml.Node) string {
	switch n.Kind {
	case yaml.AliasNode:
		return literal(n.Alias)
	case yaml.MappingNode:
		members := make([]string, 0, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			members = append(members, quote(n.Content[i].Value)+":"+literal(n.Content[i+1]))
		}
		return "{" + strings.Join(members, ",") + "}"
	case yaml.SequenceNode:
		items := make([]string, len(n.Content))
		for i, item := range n.Content {
			items[i] = literal(item)
		}
		return "[" + strings.Join(items, ",") + "]"
	case yaml.ScalarNode, yaml.DocumentNode: // the latter is no value
	}
	switch n.Tag {
	case "!!int", "!!bool", "!!float":
		return n.Value
	case "!!null":
		return "null"
	}
	return quote(n.Value)
}

// quote writes a text as JSON, without escapes for HTML.
func quote(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // every text can be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}
