package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
)

// minRSA is the minimum size of an RS256 key by RFC 7518, 3.3, in bits.
const minRSA = 2048

var errNoKeys = errors.New("there is no usable key")

// readKeys reads a JWK set. Keys for other purposes and malformed ones are left
// out; a set without any other is an error, so that an outage which looks like
// success does not take the last keys away.
func readKeys(ctx context.Context, body []byte) (*keys, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("read key set: %w", err)
	}
	store, found := jwkset.NewMemoryStorage(), false
	for _, raw := range set.Keys {
		key, err := jwkset.NewJWKFromRawJSON(raw, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
		if err != nil || !usable(key) {
			continue
		}
		if err := store.KeyWrite(ctx, key); err != nil {
			return nil, fmt.Errorf("keep key: %w", err)
		}
		found = true
	}
	if !found {
		return nil, errNoKeys
	}
	chooser, err := keyfunc.New(keyfunc.Options{Storage: store})
	if err != nil {
		return nil, fmt.Errorf("keep keys: %w", err)
	}
	return &keys{chooser}, nil
}

// usable reports whether the key may verify one of our algorithms.
func usable(k jwkset.JWK) bool {
	m := k.Marshal()
	if m.USE == jwkset.UseEnc || m.ALG != "" && !slices.Contains(publicMethods(), m.ALG.String()) {
		return false
	}
	switch key := k.Key().(type) {
	case *rsa.PublicKey:
		return key.N.BitLen() >= minRSA
	case *ecdsa.PublicKey:
		return key.Curve == elliptic.P256()
	case ed25519.PublicKey:
		return true
	}
	return false
}
