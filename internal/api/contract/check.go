package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bojanz/currency"

	"github.com/paylatch/paylatch/internal/payment"
)

// FieldError is the error of one field, as "must …".
type FieldError struct{ Field, Message string }

// Findings is the result of a check. Unknown members mean that the caller misunderstands the body as a whole; invalid members concern
// single values only. It has the first mostFound errors.
type Findings struct {
	Unknown []string
	Invalid []FieldError
}

// Check compares a value as ParseJSON returns it with a schema, and finds everything that is wrong at once.
func (d *Document) Check(s *Schema, value any) Findings {
	c := checker{doc: d}
	c.value(s, value, "")
	return c.found
}

type checker struct {
	doc   *Document
	found Findings
}

// mostFound bounds the cost of checking a large body, and the length of the problem.
const mostFound = 100

// done reports whether nothing more is to be found.
func (c *checker) done() bool { return len(c.found.Unknown)+len(c.found.Invalid) >= mostFound }

func (c *checker) invalid(field, format string, args ...any) {
	c.found.Invalid = append(c.found.Invalid, FieldError{field, fmt.Sprintf(format, args...)})
}

func (c *checker) value(s *Schema, value any, field string) {
	if c.done() {
		return
	}
	s = c.doc.Resolved(s)
	if value == nil && slices.Contains(s.Type, "null") {
		return
	}
	switch s.Type[0] {
	case "object":
		c.object(s, value, field)
	case "array":
		c.list(s, value, field)
	case "string":
		c.text(s, value, field)
	case "integer":
		c.integer(s, value, field)
	case "boolean":
		if _, ok := value.(bool); !ok {
			c.invalid(field, "must be true or false")
		}
	default:
		panic("contract: requests have no " + s.Type[0] + " so far")
	}
}

func (c *checker) object(s *Schema, value any, field string) {
	members, ok := value.(map[string]any)
	if !ok {
		c.invalid(field, "must be an object")
		return
	}
	for _, name := range s.Required {
		if _, ok := members[name]; !ok {
			c.invalid(join(field, name), "is required")
		}
	}
	if s.MaxBytes != nil && compact(members) > *s.MaxBytes {
		c.invalid(field, "must have at most %d bytes as JSON", *s.MaxBytes)
		return
	}
	if s.MaxProperties != nil && len(members) > *s.MaxProperties {
		c.invalid(field, "must have at most %d members", *s.MaxProperties)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if c.done() {
			return
		}
		c.member(s, name, members[name], field)
	}
}

// compact is the length of a value as compact JSON.
func compact(value any) int {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return math.MaxInt
	}
	return text.Len() - len("\n")
}

func (c *checker) member(s *Schema, name string, value any, field string) {
	schema, known := s.Properties.Find(name)
	if !known && !s.Additional.Forbidden && s.Additional.Schema == nil {
		return
	}
	switch path := join(field, name); {
	case known:
		c.value(schema, value, path)
	case s.Additional.Forbidden:
		c.found.Unknown = append(c.found.Unknown, path)
	case s.Additional.Schema != nil:
		if s.PropertyNames != nil && !fits(s.PropertyNames, name) {
			c.invalid(path, "must have a name that has %s", lengths(s.PropertyNames))
			return
		}
		c.value(s.Additional.Schema, value, path)
	}
}

func (c *checker) list(s *Schema, value any, field string) {
	items, ok := value.([]any)
	switch {
	case !ok:
		c.invalid(field, "must be a list")
	case s.MaxItems != nil && len(items) > *s.MaxItems:
		c.invalid(field, "must have at most %d items", *s.MaxItems)
	default:
		for i, item := range items {
			c.value(s.Items, item, join(field, strconv.Itoa(i)))
		}
	}
}

func (c *checker) text(s *Schema, value any, field string) {
	text, ok := value.(string)
	switch {
	case !ok:
		c.invalid(field, "must be a string")
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, text):
		c.invalid(field, "must be one of %s", strings.Join(s.Enum, ", "))
	case len(s.Enum) == 0 && strings.ContainsRune(text, 0):
		c.invalid(field, "must not contain U+0000")
	case !fits(s, text):
		c.invalid(field, "must have %s", lengths(s))
	case s.Pattern.Regexp != nil && !s.Pattern.MatchString(text), !formatted(s.Format, text):
		c.invalid(field, "%s", s.Hint)
	}
}

// integer accepts whole numbers in plain digits only: it refuses 1999.0 and 1.999e3.
func (c *checker) integer(s *Schema, value any, field string) {
	number, ok := value.(json.Number)
	n, err := strconv.ParseInt(number.String(), 10, 64)
	if !ok || err != nil || s.Minimum != nil && n < *s.Minimum || s.Maximum != nil && n > *s.Maximum {
		c.invalid(field, "must be a whole number in plain digits from %d to %d", *s.Minimum, *s.Maximum)
	}
}

func fits(s *Schema, text string) bool {
	n := utf8.RuneCountInString(text)
	return n >= s.MinLength && (s.MaxLength == nil || n <= *s.MaxLength) && (len(s.Enum) > 0 || !strings.ContainsRune(text, 0))
}

func lengths(s *Schema) string {
	if s.MinLength == 0 {
		return fmt.Sprintf("at most %d characters", *s.MaxLength)
	}
	return fmt.Sprintf("%d to %d characters", s.MinLength, *s.MaxLength)
}

func formatted(format, text string) bool {
	switch format {
	case "iso4217":
		return currency.IsValid(text)
	case "ip":
		_, err := netip.ParseAddr(text)
		return err == nil
	case "return-url":
		u, err := url.Parse(text)
		return err == nil && ((u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" || payment.IsAppScheme(u.Scheme))
	}
	return true
}

func join(field, name string) string {
	if quoted := QuoteName(name); quoted != `"`+name+`"` {
		name = quoted
	}
	if field == "" {
		return name
	}
	return field + "." + name
}
