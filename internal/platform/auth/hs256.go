package auth

import (
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"github.com/paylatch/paylatch/internal/payment"
)

// HS256Key verifies HS256 tokens.
type HS256Key struct {
	// ID is the kid of its tokens. A key without an ID is tried for tokens without a kid, and for tokens with a kid that is no
	// key's ID.
	ID string
	// Secret has at least 32 bytes.
	Secret []byte
	// Roles are the roles that a token of this key may have.
	Roles []payment.Role
}

// hs256 returns the key that verifies the token. Without a kid all are tried.
func (a *Authenticator) hs256(t *jwt.Token) (HS256Key, error) {
	text := t.Raw[:strings.LastIndexByte(t.Raw, '.')]
	for _, k := range a.candidates(t) {
		if t.Method.Verify(text, t.Signature, k.Secret) == nil {
			return k, nil
		}
	}
	return HS256Key{}, jwt.ErrTokenSignatureInvalid
}

// candidates returns the keys to try for a token: the key of its kid, or else the keys without an ID.
func (a *Authenticator) candidates(t *jwt.Token) []HS256Key {
	kid, named := t.Header["kid"].(string)
	if !named || kid == "" {
		return a.opts.HS256
	}
	var unnamed []HS256Key
	for _, k := range a.opts.HS256 {
		if k.ID == kid {
			return []HS256Key{k}
		}
		if k.ID == "" {
			unnamed = append(unnamed, k)
		}
	}
	return unnamed
}
