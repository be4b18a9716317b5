// Package xaes is XAES-256-GCM with random nonces. It is AES-256-GCM under a key that is derived for each text from the
// first half of a nonce of 192 bits (https://c2sp.org/XAES-256-GCM). Random nonces of AES-GCM alone, of 96 bits, allow
// 2^32 texts under one key (NIST SP 800-38D, 8.3). Here the key may encrypt 2^80 texts, so nothing has to be counted
// and no key has to be replaced for that.
package xaes

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
)

const (
	keySize   = 32
	nonceSize = 24
	tagSize   = 16
)

var errOpen = errors.New("xaes: message authentication failed")

type aead struct {
	block cipher.Block
	k1    [aes.BlockSize]byte
}

// New returns the cipher of a key of 32 bytes. Like cipher.NewGCMWithRandomNonce, it takes no nonce: Seal makes a random one, which is the
// beginning of its result.
func New(key []byte) (cipher.AEAD, error) {
	if len(key) != keySize {
		return nil, fmt.Errorf("xaes: the key has %d bytes instead of %d", len(key), keySize)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("xaes: %w", err)
	}
	a := &aead{block: block}
	block.Encrypt(a.k1[:], a.k1[:])
	// K1 of CMAC (NIST SP 800-38B, 6.1): one bit to the left, and R128 where a bit left.
	var msb byte
	for i := len(a.k1) - 1; i >= 0; i-- {
		msb, a.k1[i] = a.k1[i]>>7, a.k1[i]<<1|msb
	}
	a.k1[len(a.k1)-1] ^= msb * 0b10000111
	return a, nil
}

// NonceSize implements cipher.AEAD.
func (*aead) NonceSize() int { return 0 }

// Overhead implements cipher.AEAD.
func (*aead) Overhead() int { return nonceSize + tagSize }

// derived is AES-256-GCM under the key of a nonce, which takes the nonce's second half.
func (a *aead) derived(nonce []byte) (cipher.AEAD, error) {
	key := make([]byte, 0, keySize)
	for counter := byte(1); counter <= 2; counter++ {
		m := append([]byte{0, counter, 'X', 0}, nonce[:12]...)
		subtle.XORBytes(m, m, a.k1[:])
		a.block.Encrypt(m, m)
		key = append(key, m...)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("xaes: %w", err)
	}
	return cipher.NewGCM(block) //nolint:wrapcheck // it can't fail for AES
}

// Seal implements cipher.AEAD.
func (a *aead) Seal(dst, nonce, plaintext, additional []byte) []byte {
	if len(nonce) != 0 {
		panic("xaes: Seal makes the nonce itself")
	}
	var random [nonceSize]byte
	_, _ = rand.Read(random[:]) // it never fails
	return a.seal(dst, random[:], plaintext, additional)
}

func (a *aead) seal(dst, nonce, plaintext, additional []byte) []byte {
	of, err := a.derived(nonce)
	if err != nil {
		panic(err) // the derived key has the right length
	}
	return of.Seal(append(dst, nonce...), nonce[12:], plaintext, additional)
}

// Open implements cipher.AEAD.
func (a *aead) Open(dst, nonce, sealed, additional []byte) ([]byte, error) {
	if len(nonce) != 0 || len(sealed) < nonceSize+tagSize {
		return nil, errOpen
	}
	of, err := a.derived(sealed[:nonceSize])
	if err != nil {
		return nil, err
	}
	text, err := of.Open(dst, sealed[12:nonceSize], sealed[nonceSize:], additional)
	if err != nil {
		return nil, errOpen
	}
	return text, nil
}
