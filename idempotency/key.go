package idempotency

import (
	"errors"
	"net/http"
	"strings"
)

// The shortest and the longest key.
const (
	minKey = 8
	maxKey = 200
)

// Headers of the contract. HeaderKey is the request's and is repeated by the response;
// HeaderResult and HeaderReplayed are the response's.
const (
	HeaderKey      = "Idempotency-Key"
	HeaderResult   = "Idempotency-Result"
	HeaderReplayed = "Idempotency-Replayed"
)

var (
	// ErrKeyInQuery is returned when a key is in the query string, where logs and histories keep
	// it, even beside a good header.
	ErrKeyInQuery = errors.New("idempotency key in the query string")
	// ErrKeyMissing is returned when a command comes without a key.
	ErrKeyMissing = errors.New("idempotency key missing")
	// ErrKeyInvalid is returned when the key is not 8 to 200 characters of
	// A-Z a-z 0-9 - _ . : ~, or comes more than once.
	ErrKeyInvalid = errors.New("idempotency key invalid")
)

// Key names one intention of one user at one endpoint.
type Key string

// KeyOf reads the key of an HTTP request.
func KeyOf(r *http.Request) (Key, error) {
	for name := range r.URL.Query() {
		if strings.EqualFold(strings.ReplaceAll(name, "_", "-"), HeaderKey) {
			return "", ErrKeyInQuery
		}
	}
	return ParseKey(r.Header.Values(HeaderKey))
}

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
