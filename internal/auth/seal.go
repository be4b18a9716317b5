package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"

	"github.com/paylatch/paylatch/internal/payment"
)

// sealVersion is the first byte of what is sealed: the key and cipher used.
const sealVersion = 1

// Sealer encrypts with AES-256-GCM under a key of its own. It is safe for
// concurrent use.
type Sealer struct{ aead cipher.AEAD }

// NewSealer derives the key from the root secret, see RootSecret.
func NewSealer(root []byte) (*Sealer, error) {
	key, err := derive(root, "paylatch sealed payment method v1")
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("sealer: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("sealer: %w", err)
	}
	return &Sealer{aead}, nil
}

// Seal encrypts the text and binds it to aad, without which it can't be opened.
// Sealing the same twice gives two results.
func (s *Sealer) Seal(plaintext, aad []byte) []byte {
	return s.aead.Seal([]byte{sealVersion}, nil, plaintext, aad) //nolint:gosec // the cipher makes a random nonce itself
}

// Open is the inverse of Seal. Its error is ErrSealed.
func (s *Sealer) Open(sealed, aad []byte) ([]byte, error) {
	if len(sealed) == 0 || sealed[0] != sealVersion {
		return nil, ErrSealed
	}
	plaintext, err := s.aead.Open(nil, nil, sealed[1:], aad)
	if err != nil {
		return nil, ErrSealed
	}
	return plaintext, nil
}

// SealToken seals a payment method's token for its attempt; it is
// payment.Options.Seal.
func (s *Sealer) SealToken(token string, id payment.AttemptID) ([]byte, error) {
	return s.Seal([]byte(token), id[:]), nil
}

// OpenToken is the inverse of SealToken; it is payment.Options.Open.
func (s *Sealer) OpenToken(sealed []byte, id payment.AttemptID) (string, error) {
	token, err := s.Open(sealed, id[:])
	if err != nil {
		return "", fmt.Errorf("payment method of attempt %s: %w", id, err)
	}
	return string(token), nil
}
