package read

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/webhooks"
)

// Scalar is the text of a JSON string, number or boolean; of a number it is the digits as they were written, because
// signatures cover them. null is "".
type Scalar string

var errNotScalar = errors.New("not a text, number or boolean")

// UnmarshalJSON implements json.Unmarshaler.
func (s *Scalar) UnmarshalJSON(raw []byte) error {
	switch raw[0] {
	case '"':
		*s = Scalar(Text(raw))
	case '{', '[':
		return errNotScalar
	case 'n':
		*s = ""
	default:
		*s = Scalar(raw)
	}
	return nil
}

// Scalars returns those members of a JSON object that are texts, numbers or booleans; null, lists and objects are left
// out.
func Scalars(object map[string]json.RawMessage) map[string]string {
	texts := make(map[string]string, len(object))
	for name, raw := range object {
		var s Scalar
		if string(raw) != "null" && s.UnmarshalJSON(raw) == nil {
			texts[name] = string(s)
		}
	}
	return texts
}

// IsObject reports whether a body is meant as a JSON object, and not as a form.
func IsObject(body []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) }

// Query returns the query string of a delivery's address, as it was sent.
func Query(d webhooks.Delivery) string {
	address, _, _ := strings.Cut(d.URL, "#")
	_, query, _ := strings.Cut(address, "?")
	return query
}

var errTwoValues = errors.New("a name with two values")

// Form reads a form or a query string. It returns an error if the text is not a form, or if a name that counts has two
// values: the right value would be unknown. A provider may send any other name twice; a name with two values is then left
// out.
func Form(text string, counts func(name string) bool) (map[string]string, error) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return nil, fmt.Errorf("not a form: %w", err)
	}
	fields := make(map[string]string, len(values))
	for name, list := range values {
		switch twice := slices.ContainsFunc(list, func(value string) bool { return value != list[0] }); {
		case !twice:
			fields[name] = list[0]
		case counts(name):
			return nil, fmt.Errorf("%w: %s", errTwoValues, name)
		}
	}
	return fields, nil
}

// Every is for a [Form] in which all names count: no name may have two values.
func Every(string) bool { return true }

// Only is for a [Form] in which these names count: they must not have two values.
func Only(names ...string) func(name string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}
