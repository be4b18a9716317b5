package webhooks

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// standardKey is a secret of v1, or else a key of v1a.
type standardKey struct {
	secret  []byte
	public  ed25519.PublicKey
	private ed25519.PrivateKey
}

var (
	errKeyForm   = errors.New("not whsec_, whpk_ or whsk_ and base64")
	errKeyLength = errors.New("key of the wrong length")
	errKeyPair   = errors.New("the two halves of the key don't belong together")
)

func parseStandardKey(text string) (standardKey, error) {
	kind, encoded, prefixed := strings.Cut(text, "_")
	if !prefixed {
		kind, encoded = "whsec", text
	}
	key, err := base64Strict.DecodeString(encoded)
	if err != nil {
		return standardKey{}, errKeyForm
	}
	switch {
	case kind == "whsec" && len(key) > 0:
		return standardKey{secret: key}, nil
	case kind == "whpk" && len(key) == ed25519.PublicKeySize:
		return standardKey{public: key}, nil
	case kind == "whsk" && len(key) == ed25519.PrivateKeySize:
		return standardKeyPair(key)
	case kind == "whsec", kind == "whpk", kind == "whsk":
		return standardKey{}, errKeyLength
	default:
		return standardKey{}, errKeyForm
	}
}

// standardKeyPair takes a seed and its public key. Go signs with the public half
// as it stands, so halves that don't match would make signatures nobody accepts.
func standardKeyPair(key ed25519.PrivateKey) (standardKey, error) {
	made := ed25519.NewKeyFromSeed(key.Seed())
	if !bytes.Equal(made, key) {
		return standardKey{}, errKeyPair
	}
	return standardKey{public: ed25519.PublicKey(made[ed25519.SeedSize:]), private: made}, nil
}

// made reports whether the key made one of the signatures of its version.
func (k standardKey) made(h standardHeaders, body []byte) bool {
	if k.public == nil {
		return matchMAC(sha256.New, [][]byte{k.secret}, h.v1, h.prefix(), body) == 0
	}
	text := slices.Concat(h.prefix(), body)
	return slices.ContainsFunc(h.v1a, func(sum []byte) bool { return ed25519.Verify(k.public, text, sum) })
}

// sign returns a signature with its version, as it stands in the header.
func (k standardKey) sign(prefix, body []byte) (string, error) {
	switch {
	case k.private != nil:
		return "v1a," + base64Strict.EncodeToString(ed25519.Sign(k.private, slices.Concat(prefix, body))), nil
	case k.public != nil:
		return "", fmt.Errorf("%w: a public key can't sign", ErrConfig)
	default:
		return "v1," + base64Strict.EncodeToString(mac(sha256.New, k.secret, prefix, body)), nil
	}
}
