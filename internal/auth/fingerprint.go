package auth

import (
	"crypto/hmac"
	"crypto/sha256"
)

// NewFingerprint returns a function of texts that differs where they do. What it returns may be stored: without the first key of the
// ring nothing of a text can be found out by it. With another first key all are different.
func NewFingerprint(ring []Key) (func(text []byte) []byte, error) {
	keys, err := deriveEach(ring, "paylatch fingerprint of a configuration v1")
	if err != nil {
		return nil, err
	}
	return func(text []byte) []byte {
		sum := hmac.New(sha256.New, keys[0])
		sum.Write(text)
		return sum.Sum(nil)
	}, nil
}
