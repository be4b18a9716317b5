package auth

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/config"
	"github.com/paylatch/paylatch/internal/payment"
)

// Minter makes HS256 tokens that an Authenticator with the same options takes.
// It is for trying things out and for a merchant's own backend; customers'
// tokens come from the merchant's identity provider.
type Minter struct {
	// Keys are those of the Authenticator; a token is signed with the first that may
	// give all its roles.
	Keys             []HS256Key
	Issuer, Audience string
	// Now is the clock; nil: the system's.
	Now func() time.Time
}

// NewMinter creates tokens that the configured service accepts.
func NewMinter(cfg *config.Config) Minter {
	return Minter{Keys: TokenKeys(cfg), Issuer: cfg.Auth.Issuer, Audience: cfg.Auth.Audience}
}

// TokenKeys returns the configured keys of HS256 tokens.
func TokenKeys(cfg *config.Config) []HS256Key {
	ring := cfg.Auth.Ring()
	keys := make([]HS256Key, 0, len(ring))
	for _, k := range ring {
		roles := make([]payment.Role, 0, len(k.Roles))
		for _, role := range k.Roles {
			roles = append(roles, payment.Role(role))
		}
		keys = append(keys, HS256Key{ID: k.ID, Secret: []byte(k.Secret), Roles: roles})
	}
	return keys
}

// Mint returns a token for the subject that ends after ttl.
func (m Minter) Mint(sub string, roles []payment.Role, ttl time.Duration) (string, error) {
	if err := check(sub, roles, ttl); err != nil {
		return "", err
	}
	key, err := m.key(roles)
	if err != nil {
		return "", err
	}
	now := Options{Now: m.Now}.withDefaults().Now()
	c := jwt.MapClaims{"sub": sub, "roles": roles, "iat": now.Unix(), "exp": now.Add(ttl).Unix()}
	if m.Issuer != "" {
		c["iss"] = m.Issuer
	}
	if m.Audience != "" {
		c["aud"] = m.Audience
	}
	t := jwt.NewWithClaims(jwt.SigningMethodHS256, c)
	if key.ID != "" {
		t.Header["kid"] = key.ID
	}
	token, err := t.SignedString(key.Secret)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return token, nil
}

func (m Minter) key(roles []payment.Role) (HS256Key, error) {
	for _, k := range m.Keys {
		if !slices.ContainsFunc(roles, func(r payment.Role) bool { return !slices.Contains(k.Roles, r) }) {
			if len(k.Secret) < minSecret {
				return HS256Key{}, fmt.Errorf("the secret must be at least %d bytes long", minSecret)
			}
			return k, nil
		}
	}
	return HS256Key{}, fmt.Errorf("there is no key whose tokens may have the roles %v", roles)
}

func check(sub string, roles []payment.Role, ttl time.Duration) error {
	switch {
	case len(roles) == 0:
		return errors.New("a token needs at least one role")
	case ttl < time.Second:
		return errors.New("a token must last at least a second")
	}
	for _, r := range roles {
		if !isRole(r) {
			return errors.New("a role is customer, service, support or admin")
		}
	}
	if _, err := authz.ParseUserID(sub); err != nil {
		return fmt.Errorf("the subject %w", err)
	}
	return nil
}
