package config

import "fmt"

// mask is shown in place of a secret.
const mask = "***"

// Secret is a text that is never shown: printing, logging and encoding it give three stars, or nothing if it is empty.
// Converting it to a string shows it.
type Secret string

// String implements fmt.Stringer.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// GoString implements fmt.GoStringer.
func (s Secret) GoString() string { return s.String() }

// Format implements fmt.Formatter, because verbs such as %d pass String by.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// MarshalText implements encoding.TextMarshaler, which JSON, YAML and the logs use.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
