package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"
)

// parse reads a body by its first byte: senders' content types are unreliable.
func parse(body []byte) (any, bool) {
	text := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	switch {
	case len(text) == 0:
		return nil, false
	case text[0] == '{' || text[0] == '[':
		return parseJSON(text)
	case text[0] == '<':
		return parseXML(text)
	}
	return parseForm(string(text))
}

func parseJSON(text []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, errors.Is(err, io.EOF)
}

// packed is the field in which Braintree sends a document as Base64.
const packed = "bt_payload"

func parseForm(text string) (any, bool) {
	fields, err := url.ParseQuery(text)
	if err != nil || !strings.Contains(text, "=") {
		return nil, false
	}
	out := make(map[string]any, len(fields))
	for name, values := range fields {
		if len(values) > 1 {
			list := make([]any, len(values))
			for i, v := range values {
				list[i] = v
			}
			out[name] = list
			continue
		}
		out[name] = values[0]
		if name == packed {
			out[name] = unpacked(values[0])
		}
	}
	return out, true
}

func unpacked(text string) any {
	raw, err := base64.StdEncoding.DecodeString(strings.NewReplacer("\n", "", "\r", "", " ", "").Replace(text))
	if err != nil {
		return text
	}
	if tree, ok := parseXML(bytes.TrimSpace(raw)); ok {
		return tree
	}
	return text
}

// element is an XML element while it is read.
type element struct {
	name    string
	text    strings.Builder
	members map[string]any
}

// parseXML turns elements into members by their names. The attributes of an
// element that holds only text are left out; entities that a document defines are
// refused by the decoder.
func parseXML(text []byte) (any, bool) {
	d := xml.NewDecoder(bytes.NewReader(text))
	root := &element{members: map[string]any{}}
	open := []*element{root}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return root.members, len(open) == 1 && len(root.members) > 0
		}
		if err != nil || len(open) > maxDepth {
			return nil, false
		}
		inner := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			e := &element{name: t.Name.Local, members: map[string]any{}}
			for _, a := range t.Attr {
				e.members["@"+a.Name.Local] = a.Value
			}
			open = append(open, e)
		case xml.CharData:
			inner.text.Write(t)
		case xml.EndElement:
			open = open[:len(open)-1]
			open[len(open)-1].add(inner.name, inner.value())
		}
	}
}

// value is the text of an element without others in it, else its members.
func (e *element) value() any {
	for name := range e.members {
		if name[0] != '@' {
			return e.members
		}
	}
	return strings.TrimSpace(e.text.String())
}

func (e *element) add(name string, v any) {
	switch there := e.members[name].(type) {
	case nil:
		e.members[name] = v
	case []any:
		e.members[name] = append(there, v)
	default:
		e.members[name] = []any{there, v}
	}
}
