package standard

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// secretKey is a secret of v1, or else a key of v1a.
type secretKey struct {
	secret  []byte
	public  ed25519.PublicKey
	private ed25519.PrivateKey
}

var (
	errKeyForm   = errors.New("not whsec_, whpk_ or whsk_ and base64")
	errKeyLength = errors.New("key of the wrong length")
	errKeyPair   = errors.New("the two halves of the key don't belong together")
)

func parseKey(text string) (secretKey, error) {
	kind, encoded, prefixed := strings.Cut(text, "_")
	if !prefixed {
		kind, encoded = "whsec", text
	}
	key, err := read.Base64.DecodeString(encoded)
	if err != nil {
		return secretKey{}, errKeyForm
	}
	switch {
	case kind == "whsec" && len(key) > 0:
		return secretKey{secret: key}, nil
	case kind == "whpk" && len(key) == ed25519.PublicKeySize:
		return secretKey{public: key}, nil
	case kind == "whsk" && len(key) == ed25519.PrivateKeySize:
		return keyPair(key)
	case kind == "whsec", kind == "whpk", kind == "whsk":
		return secretKey{}, errKeyLength
	default:
		return secretKey{}, errKeyForm
	}
}

// keyPair takes a seed and its public key. Go signs with the public half as it stands, so halves that don't match would
// make signatures that are never accepted.
func keyPair(key ed25519.PrivateKey) (secretKey, error) {
	made := ed25519.NewKeyFromSeed(key.Seed())
	if !bytes.Equal(made, key) {
		return secretKey{}, errKeyPair
	}
	return secretKey{public: ed25519.PublicKey(made[ed25519.SeedSize:]), private: made}, nil
}

// made reports whether the key made one of the signatures of its version.
func (k secretKey) made(h signedHeaders, body []byte) bool {
	if k.public == nil {
		return read.Match(sha256.New, [][]byte{k.secret}, h.v1, h.prefix(), body) == 0
	}
	text := slices.Concat(h.prefix(), body)
	return slices.ContainsFunc(h.v1a, func(sum []byte) bool { return ed25519.Verify(k.public, text, sum) })
}

// sign returns a signature with its version, as it stands in the header.
func (k secretKey) sign(prefix, body []byte) (string, error) {
	switch {
	case k.private != nil:
		return "v1a," + read.Base64.EncodeToString(ed25519.Sign(k.private, slices.Concat(prefix, body))), nil
	case k.public != nil:
		return "", fmt.Errorf("%w: a public key can't sign", webhooks.ErrConfig)
	default:
		return "v1," + read.Base64.EncodeToString(read.MAC(sha256.New, k.secret, prefix, body)), nil
	}
}
