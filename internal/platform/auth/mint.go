package auth

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// Minter makes HS256 tokens that an Authenticator with the same options accepts. It is for experiments and for a merchant's own
// backend; customers' tokens come from the merchant's identity provider.
type Minter struct {
	// Keys are the keys of the Authenticator. The first key that may give all of a token's roles signs it.
	Keys             []HS256Key
	Issuer, Audience string
	// StaffLife is how long a token of staff may last at the most; 0: any time.
	StaffLife time.Duration
	// Now is the clock; nil: the system's.
	Now func() time.Time
}

// NewMinter creates tokens that the configured service accepts.
func NewMinter(cfg *config.Config) Minter {
	return Minter{Keys: TokenKeys(cfg), Issuer: cfg.Auth.Issuer, Audience: cfg.Auth.Audience, StaffLife: StaffLife(cfg)}
}

// TokenKeys returns the configured keys of HS256 tokens.
func TokenKeys(cfg *config.Config) []HS256Key {
	ring := cfg.Auth.Ring()
	keys := make([]HS256Key, 0, len(ring))
	for _, k := range ring {
		keys = append(keys, HS256Key{ID: k.ID, Secret: []byte(k.Secret), Roles: rolesOf(k.Roles)})
	}
	return keys
}

// Issuers returns the configured issuers that publish their keys.
func Issuers(cfg *config.Config) []Issuer {
	all := cfg.Issuers()
	list := make([]Issuer, 0, len(all))
	for _, of := range all {
		list = append(list, Issuer{Name: of.Issuer, Audience: of.Audience, JWKSURL: of.JWKSURL, Roles: rolesOf(of.Roles), SubjectClaim: of.SubjectClaim})
	}
	if doors(cfg) > 1 {
		for i := range list {
			if list[i].SubjectClaim == "" {
				list[i].Door = list[i].Name
			}
		}
	}
	return list
}

// SharedDoor is the door of staff with HS256 tokens, see authz.Actor.
func SharedDoor(cfg *config.Config) string {
	if doors(cfg) > 1 {
		return "HS256"
	}
	return ""
}

// doors counts the ways in which staff may sign in.
func doors(cfg *config.Config) (n int) {
	staff := func(roles []string) bool {
		return slices.ContainsFunc(roles, func(r string) bool { return r == string(payment.RoleSupport) || r == string(payment.RoleAdmin) })
	}
	if cfg.Console.OIDC.Issuer != "" {
		n++
	}
	if slices.ContainsFunc(cfg.Auth.Ring(), func(k config.HS256Key) bool { return staff(k.Roles) }) {
		n++
	}
	for _, of := range cfg.Issuers() {
		if staff(of.Roles) {
			n++
		}
	}
	return n
}

// StaffLife is how long tokens of staff may last in an environment.
func StaffLife(cfg *config.Config) time.Duration {
	if cfg.Environment == config.Live {
		return 24 * time.Hour
	}
	return 0
}

func rolesOf(names []string) []payment.Role {
	roles := make([]payment.Role, 0, len(names))
	for _, name := range names {
		roles = append(roles, payment.Role(name))
	}
	return roles
}

// Mint returns a token for the subject that ends after ttl.
func (m Minter) Mint(sub string, roles []payment.Role, ttl time.Duration) (string, error) {
	if err := check(sub, roles, ttl); err != nil {
		return "", err
	}
	staff := slices.Contains(roles, payment.RoleSupport) || slices.Contains(roles, payment.RoleAdmin)
	if m.StaffLife > 0 && staff && ttl > m.StaffLife {
		return "", fmt.Errorf("a staff token may be valid for %s at most here", m.StaffLife)
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
	return HS256Key{}, fmt.Errorf("no configured key allows tokens with the roles %v", roles)
}

func check(sub string, roles []payment.Role, ttl time.Duration) error {
	switch {
	case len(roles) == 0:
		return errors.New("a token needs at least one role")
	case ttl < time.Second:
		return errors.New("a token must be valid for at least a second")
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
