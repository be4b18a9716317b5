// Package redact shows a provider's bytes without secrets and personal data.
//
// A value is shown only if a rule allows it, by the name of a member and the form of its value together. So a member that a
// provider adds later is hidden until a rule is written.
package redact

import (
	"encoding/json"
	"strings"
)

// hidden stands for a hidden value.
const hidden = "[hidden]"

const (
	// maxDepth and maxNodes bound the part of a body that is read.
	maxDepth = 32
	maxNodes = 10_000
)

// Body returns the structure of a provider's bytes (JSON, a form or query, XML)
// with only those values that the rules allow: ids, amounts, currencies, times,
// states, and the last four digits of a card. Bytes of another form are hidden as a
// whole; no bytes are nil.
func Body(body []byte) any {
	if len(body) == 0 {
		return nil
	}
	tree, ok := parse(body)
	if !ok {
		return hidden
	}
	r := redactor{left: maxNodes}
	return r.value("", tree, nil, 0)
}

type redactor struct{ left int }

// value redacts the value of a name. Beside are the members of the same object.
func (r *redactor) value(name string, v any, beside map[string]any, depth int) any {
	if r.left--; r.left < 0 || depth > maxDepth {
		return hidden
	}
	switch v := v.(type) {
	case nil, bool:
		return v
	case map[string]any:
		if foreign(name) {
			return hidden
		}
		return r.object(v, depth)
	case []any:
		if foreign(name) {
			return hidden
		}
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = r.value(name, item, beside, depth+1)
		}
		return list
	case json.Number:
		if safe(name, v.String(), beside) {
			return v
		}
	case string:
		return r.text(name, v, beside)
	}
	return hidden
}

func (r *redactor) object(members map[string]any, depth int) any {
	out := make(map[string]any, len(members))
	for name, v := range members {
		if !named(name) {
			// A name may be a merchant's or a customer's text, too.
			out[hidden] = hidden
			continue
		}
		out[name] = r.value(name, v, members, depth+1)
	}
	return out
}

// text shows a safe text, and the end of a card's number.
func (r *redactor) text(name, text string, beside map[string]any) any {
	switch {
	case text == "":
		return text
	case isCardNumber(name):
		return lastFour(text)
	case safe(name, text, beside):
		return text
	}
	return hidden
}

// named reports whether a member's name is of a form that only programs write.
func named(name string) bool {
	if name == "" || len(name) > 48 {
		return false
	}
	digits := 0
	for i, c := range name {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case c >= '0' && c <= '9':
			digits++
		case strings.ContainsRune("_-@#$:", c) && i+1 < len(name):
		default:
			return false
		}
	}
	return digits <= 4
}
