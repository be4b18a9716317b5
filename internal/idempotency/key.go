package idempotency

import (
	"errors"
	"strings"
)

// The shortest and the longest key.
const (
	minKey = 8
	maxKey = 200
)

var (
	// ErrKeyMissing is returned when a command comes without a key.
	ErrKeyMissing = errors.New("idempotency key missing")
	// ErrKeyInvalid is returned when the key is not 8 to 200 characters of
	// A-Z a-z 0-9 - _ . : ~, or comes more than once.
	ErrKeyInvalid = errors.New("idempotency key invalid")
)

// Key names one intention of one user at one endpoint.
type Key string

// ParseKey reads the values of the Idempotency-Key header: one value, bare or as
// a string of RFC 9651 in double quotes.
func ParseKey(values []string) (Key, error) {
	if len(values) == 0 || len(values) == 1 && strings.TrimSpace(values[0]) == "" {
		return "", ErrKeyMissing
	}
	if len(values) > 1 {
		return "", ErrKeyInvalid
	}
	text := strings.Trim(values[0], " \t")
	if inner, ok := strings.CutPrefix(text, `"`); ok {
		if text, ok = strings.CutSuffix(inner, `"`); !ok {
			return "", ErrKeyInvalid
		}
	}
	if len(text) < minKey || len(text) > maxKey || strings.IndexFunc(text, notKeyRune) >= 0 {
		return "", ErrKeyInvalid
	}
	return Key(text), nil
}

func notKeyRune(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("-_.:~", r)
}
