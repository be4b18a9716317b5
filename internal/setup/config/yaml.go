package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// maxDepth and maxNodes bound the size of the tree that aliases can make of a small file.
const (
	maxDepth = 20
	maxNodes = 100_000
)

// parser reads YAML as a tree of map[string]any, []any, string and nil. It is koanf's Parser. Scalars stay as they were
// written, so that 007 does not become 7: their fields' types read them.
type parser struct {
	report *report
	// expand replaces the references in a text; if it is nil, texts stay as they are.
	expand func(key, text string) string
	nodes  int
}

// Unmarshal reads one document that holds a mapping. Errors go to the report.
func (p *parser) Unmarshal(b []byte) (map[string]any, error) {
	tree, err := p.parse(b, "")
	if err != nil {
		p.report.add("", "the file is not YAML: %v", err)
		return nil, nil
	}
	m, ok := tree.(map[string]any)
	if !ok && tree != nil {
		p.report.add("", "the file must contain a mapping (key: value)")
	}
	return m, nil
}

// Marshal completes koanf's interface.
func (p *parser) Marshal(map[string]any) ([]byte, error) { return nil, errors.ErrUnsupported }

func (p *parser) parse(b []byte, key string) (any, error) {
	d := yaml.NewDecoder(bytes.NewReader(shield(b)))
	var doc yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, safe(err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("the file has more than one document")
	}
	return p.tree(&doc, key, 0), nil
}

var quoted = regexp.MustCompile("'[^']*'|`[^`]*`|\"[^\"]*\"")

// safe removes quotations of the file from the parser's error text.
func safe(err error) error {
	return errors.New(quoted.ReplaceAllString(err.Error(), "'…'"))
}

func (p *parser) tree(n *yaml.Node, key string, depth int) any {
	if p.nodes > maxNodes {
		return nil
	}
	if p.nodes++; p.nodes > maxNodes || depth > maxDepth {
		p.report.add(presentable(key), "is nested too deeply, or contains an alias of itself")
		p.nodes = maxNodes + 1
		return nil
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return p.tree(n.Content[0], key, depth)
	case yaml.AliasNode:
		return p.tree(n.Alias, key, depth+1)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for i, item := range n.Content {
			list = append(list, p.tree(item, index(key, i), depth+1))
		}
		return list
	case yaml.MappingNode:
		return p.mapping(n, key, depth)
	case yaml.ScalarNode:
		return p.scalar(n, key)
	}
	return nil
}

func (p *parser) mapping(n *yaml.Node, key string, depth int) any {
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		own := unshield(n.Content[i].Value)
		name := join(key, own)
		if _, ok := m[own]; ok {
			p.report.add(presentable(name), "occurs twice; remove one of the two (line %d)", n.Content[i].Line)
		}
		m[own] = p.tree(n.Content[i+1], name, depth+1)
	}
	return m
}

func (p *parser) scalar(n *yaml.Node, key string) any {
	if n.ShortTag() == "!!null" {
		return nil
	}
	text := unshield(n.Value)
	if p.expand == nil {
		return text
	}
	return p.expand(key, text)
}

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

func index(key string, i int) string { return fmt.Sprintf("%s[%d]", key, i) }

var odd = regexp.MustCompile(`[^A-Za-z0-9_.\[\]-].*`)

// presentable cuts a text that can't be a configuration key: in `api_key:value`, with a missing blank, the value must not be
// shown.
func presentable(key string) string { return odd.ReplaceAllString(key, "…") }
