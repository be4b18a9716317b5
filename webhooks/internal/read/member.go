package read

import (
	"encoding/json"
	"math"
	"strconv"
)

// The types below are for members of any JSON type: an unexpected type does not make the object around the member
// unreadable. A member that an event's meaning requires has a plain Go type.

// Integer is a JSON number in plain digits. 1999.0, 1.999e3 and "1999" are unreadable amounts: none is guessed at.
type Integer int64

// unreadable is an Integer that is something else. No amount is negative.
const unreadable Integer = math.MinInt64

// UnmarshalJSON implements json.Unmarshaler.
func (i *Integer) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if *i = Integer(n); err != nil {
		*i = unreadable
	}
	return nil
}

// Text returns the digits, "" for none.
func (i *Integer) Text() string {
	if i == nil || *i == unreadable {
		return ""
	}
	return strconv.FormatInt(int64(*i), 10)
}

// Less returns a - b, which is unreadable if one of the two is.
func Less(a, b Integer) Integer {
	if a == unreadable || b == unreadable {
		return unreadable
	}
	return a - b
}

// Word is a text out of a list that the provider documents: a status, a currency, an amount as text. null is "", and
// a value that is no text is kept as its JSON, which is as unfamiliar as any other word.
type Word string

// UnmarshalJSON implements json.Unmarshaler.
func (w *Word) UnmarshalJSON(raw []byte) error {
	switch text := Text(raw); {
	case text != "" || raw[0] == '"' || raw[0] == 'n':
		*w = Word(text)
	default:
		*w = Word(raw)
	}
	return nil
}

// Note is a text that an event can do without; anything else is "".
type Note string

// UnmarshalJSON implements json.Unmarshaler.
func (n *Note) UnmarshalJSON(raw []byte) error {
	*n = Note(Text(raw))
	return nil
}

// Optional is a list or an object that an event can do without. A value of another form is left out.
type Optional[T any] struct{ Value T }

// UnmarshalJSON implements json.Unmarshaler.
func (o *Optional[T]) UnmarshalJSON(raw []byte) error {
	Loosely(raw, &o.Value)
	return nil
}

// Loosely reads those members of an object into v that are of v's types.
func Loosely(raw []byte, v any) { _ = json.Unmarshal(raw, v) }

// WordAt returns the word at the end of a path of members, "" if one of them is absent or null. If a member on the path is
// no object, WordAt returns the JSON of that member.
func WordAt(raw json.RawMessage, path ...string) Word {
	var w Word
	if raw = memberAt(raw, path); len(raw) > 0 {
		_ = w.UnmarshalJSON(raw)
	}
	return w
}

// TextAt is WordAt for a text. For a value of another type it returns a text that is neither a currency nor an amount.
func TextAt(raw json.RawMessage, path ...string) string {
	raw = memberAt(raw, path)
	if w := WordAt(raw); w == "" || raw[0] == '"' {
		return string(w)
	}
	return "not a text: " + string(raw)
}

// memberAt follows a path of members for as long as there are objects.
func memberAt(raw json.RawMessage, path []string) json.RawMessage {
	for _, name := range path {
		object := Members(raw)
		if object == nil {
			break
		}
		raw = object[name]
	}
	return raw
}
