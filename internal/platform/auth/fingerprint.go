package auth

import (
	"crypto/hmac"
	"crypto/sha256"

	"github.com/paylatch/paylatch/internal/setup/config"
)

// NewFingerprint returns a function that makes fingerprints of texts; different texts have different fingerprints. A fingerprint
// may be stored: it reveals nothing of the text without the first key of the ring. Another first key changes all fingerprints.
func NewFingerprint(ring []Key) (func(text []byte) []byte, error) {
	keys, err := deriveEach(ring, "paylatch fingerprint of a configuration v1")
	if err != nil {
		return nil, err
	}
	return func(text []byte) []byte { return digest(keys[0], text) }, nil
}

func digest(key, text []byte) []byte {
	sum := hmac.New(sha256.New, key)
	sum.Write(text)
	return sum.Sum(nil)
}

// Marks returns a function that makes a digest of a customer's name under each key of the configuration, in the order of the
// ring. One of the digests is stored in place of the name; a caller that has the name and the key finds it again. Only the
// private database of `paylatch dev` may use the key of its own data directory.
func Marks(c *config.Config) func(text string) ([][]byte, error) {
	return func(text string) ([][]byte, error) {
		if len(c.EncryptionKeys) == 0 && c.DatabaseURL != "" {
			return nil, config.ValidationErrors{"encryption_keys: use the service's keys, so that a second erasure finds the same customer"}
		}
		ring, err := Keys(c)
		if err != nil {
			return nil, err
		}
		keys, err := deriveEach(ring, "paylatch mark of an erased customer v1")
		if err != nil {
			return nil, err
		}
		marks := make([][]byte, len(keys))
		for i, key := range keys {
			marks[i] = digest(key, []byte(text))
		}
		return marks, nil
	}
}
