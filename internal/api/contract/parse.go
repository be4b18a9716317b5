package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/paylatch/paylatch/internal/platform/redact"
)

// ParseJSON reads JSON only if it has a single meaning. It refuses input that encoding/json accepts or
// repairs: duplicate members, bytes that are not UTF-8, halves of surrogate pairs, data after the value, endless depth.

const (
	// MaxDepth is how deep objects and arrays may be nested.
	MaxDepth = 32
	// MaxValues is how many values, nested ones included, a text may have: each value costs far more memory than its bytes. An order of
	// 200 lines with all their members has 2,900.
	MaxValues = 3000
	// MaxMembers is how many members an object may have.
	MaxMembers = 500
)

// JSONError is why a text was refused. It quotes at most a member's name.
type JSONError struct{ Reason string }

// Error implements error.
func (e *JSONError) Error() string { return e.Reason }

// ParseJSON returns the value of a text: nil, bool, string, json.Number, []any or
// map[string]any. Its error is an *Error.
func ParseJSON(text []byte) (any, error) {
	switch {
	case !utf8.Valid(text):
		return nil, &JSONError{"the body is not valid UTF-8"}
	case !json.Valid(text):
		return nil, invalid(text)
	case loneSurrogate(text):
		return nil, &JSONError{"a string contains half of a surrogate pair"}
	case values(text) > MaxValues:
		return nil, &JSONError{fmt.Sprintf("the body has more than %d values", MaxValues)}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return value(d, 0)
}

func invalid(text []byte) error {
	var syntax *json.SyntaxError
	var v any
	switch err := json.Unmarshal(text, &v); {
	case len(bytes.TrimSpace(text)) == 0:
		return &JSONError{"the body is empty"}
	case errors.As(err, &syntax):
		return &JSONError{"the body is not JSON: syntax error at byte " + strconv.FormatInt(syntax.Offset, 10)}
	}
	return &JSONError{"the body is not JSON"}
}

// loneSurrogate looks for \uD800–\uDFFF escapes without their other half, which
// encoding/json would replace. The text is valid JSON, so that each backslash
// begins an escape within a string.
func loneSurrogate(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		first, long := escape(text[i:])
		if !long {
			i++
			continue
		}
		i += 5
		if !utf16.IsSurrogate(first) {
			continue
		}
		second, long := escape(text[i+1:])
		if !long || utf16.DecodeRune(first, second) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

// values counts the values of a valid text, an empty object or list as two.
func values(text []byte) int {
	count, quoted := 1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\': // only within a string
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '{' || c == '['):
			count++
		}
	}
	return count
}

// escape reads a \uXXXX at the start of text.
func escape(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	r, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(r), err == nil
}

func value(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, broken(err)
	}
	switch token {
	case json.Delim('{'):
		return object(d, depth+1)
	case json.Delim('['):
		return array(d, depth+1)
	}
	return token, nil
}

func object(d *json.Decoder, depth int) (any, error) {
	if depth > MaxDepth {
		return nil, tooDeep()
	}
	members := make(map[string]any)
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, broken(err)
		}
		name, _ := token.(string)
		if len(members) == MaxMembers {
			return nil, &JSONError{fmt.Sprintf("an object has more than %d members", MaxMembers)}
		}
		if _, twice := members[name]; twice {
			return nil, &JSONError{fmt.Sprintf("the member %s occurs twice", QuoteName(name))}
		}
		if members[name], err = value(d, depth); err != nil {
			return nil, err
		}
	}
	return members, end(d)
}

func array(d *json.Decoder, depth int) (any, error) {
	if depth > MaxDepth {
		return nil, tooDeep()
	}
	items := []any{}
	for d.More() {
		item, err := value(d, depth)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, end(d)
}

// end takes the closing bracket.
func end(d *json.Decoder) error {
	_, err := d.Token()
	return broken(err)
}

func broken(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return &JSONError{"the body is not JSON: it is incomplete"}
	}
	return &JSONError{"the body is not JSON"}
}

func tooDeep() error {
	return &JSONError{fmt.Sprintf("objects and arrays are nested deeper than %d", MaxDepth)}
}

// longestName limits the caller's text in a response.
const longestName = 60

// QuoteName quotes a name that came from outside, and shortens it. It never repeats a card
// number.
func QuoteName(name string) string {
	if redact.CardNumberIn(name[:min(len(name), longestName*utf8.UTFMax)]) {
		name = "…"
	}
	if utf8.RuneCountInString(name) > longestName {
		name = string([]rune(name[:longestName*utf8.UTFMax])[:longestName]) + "…"
	}
	return strconv.QuoteToASCII(name)
}
