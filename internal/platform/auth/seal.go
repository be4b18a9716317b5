package auth

import (
	"crypto/cipher"
	"errors"
	"fmt"

	"github.com/paylatch/paylatch/internal/platform/xaes"
)

// sealVersion is the first byte of a sealed text: the form and the cipher. The length of the key's id follows in a byte, then
// the id and the ciphertext.
const sealVersion = 3

// maxID bounds an id, so that its length fits into one byte.
const maxID = 255

// Sealer encrypts with XAES-256-GCM under keys of its own. It is safe for concurrent
// use.
type Sealer struct {
	current string
	ciphers map[string]cipher.AEAD
}

// NewSealer derives its keys from a ring, see Keys: the first encrypts, all decrypt.
func NewSealer(ring []Key) (*Sealer, error) {
	keys, err := deriveEach(ring, "paylatch sealed payment method v1")
	if err != nil {
		return nil, err
	}
	s := &Sealer{current: ring[0].ID, ciphers: make(map[string]cipher.AEAD, len(ring))}
	for i, key := range keys {
		if len(ring[i].ID) > maxID {
			return nil, errors.New("sealer: the id of a key is too long")
		}
		if s.ciphers[ring[i].ID], err = xaes.New(key); err != nil {
			return nil, fmt.Errorf("sealer: %w", err)
		}
	}
	return s, nil
}

// Seal encrypts the text and binds it to aad: the text can't be opened without aad. Sealing the same text twice gives two
// results.
func (s *Sealer) Seal(plaintext, aad []byte) []byte {
	head := append([]byte{sealVersion, byte(len(s.current))}, s.current...) //nolint:gosec // NewSealer takes no longer ids
	return s.ciphers[s.current].Seal(head, nil, plaintext, aad)             //nolint:gosec // the cipher makes a random nonce itself
}

// Open is the inverse of Seal, by whichever key of the ring it was. Its error is
// ErrSealed.
func (s *Sealer) Open(sealed, aad []byte) ([]byte, error) {
	if len(sealed) < 2 || sealed[0] != sealVersion || len(sealed) < 2+int(sealed[1]) {
		return nil, ErrSealed
	}
	id, rest := sealed[2:2+int(sealed[1])], sealed[2+int(sealed[1]):]
	aead, ok := s.ciphers[string(id)]
	if !ok {
		return nil, ErrSealed
	}
	plaintext, err := aead.Open(nil, nil, rest, aad)
	if err != nil {
		return nil, ErrSealed
	}
	return plaintext, nil
}

// Outdated reports whether a text was sealed by another key than the key that encrypts now.
func (s *Sealer) Outdated(sealed []byte) bool {
	return len(sealed) < 2 || len(sealed) < 2+int(sealed[1]) || string(sealed[2:2+int(sealed[1])]) != s.current
}

// SealText seals the stored part of a request, bound to its attempt or its order; it is runner.Options.Seal.
func (s *Sealer) SealText(text string, of []byte) ([]byte, error) {
	return s.Seal([]byte(text), of), nil
}

// OpenText is the inverse of SealText; it is runner.Options.Open.
func (s *Sealer) OpenText(sealed, of []byte) (string, error) {
	text, err := s.Open(sealed, of)
	return string(text), err
}
