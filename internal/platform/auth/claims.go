package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// leeway is how far ahead an nbf may lie.
const leeway = 5 * time.Second

// claims keeps them by their exact names: a struct would take ROLES for roles.
type claims struct{ jwt.MapClaims }

// UnmarshalJSON implements json.Unmarshaler.
func (c *claims) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &c.MapClaims) } //nolint:wrapcheck // jwt wraps it

// GetNotBefore is the nbf less the leeway. The parser's own leeway would prolong
// exp too.
func (c *claims) GetNotBefore() (*jwt.NumericDate, error) {
	nbf, err := c.MapClaims.GetNotBefore()
	if err == nil && nbf != nil {
		nbf = jwt.NewNumericDate(nbf.Add(-leeway))
	}
	return nbf, err //nolint:wrapcheck // jwt wraps it
}

// newParser checks signatures only. The claims are checked later, by the limits of the token's key.
func newParser(o Options) *jwt.Parser {
	var methods []string
	if len(o.HS256) > 0 {
		methods = append(methods, jwt.SigningMethodHS256.Alg())
	}
	if len(o.Issuers) > 0 {
		methods = append(methods, publicMethods()...)
	}
	return jwt.NewParser(jwt.WithValidMethods(methods), jwt.WithStrictDecoding(), jwt.WithoutClaimsValidation())
}

// newValidator checks the claims of an issuer; an empty name or audience is not checked.
func newValidator(name, audience string, now func() time.Time) *jwt.Validator {
	options := []jwt.ParserOption{jwt.WithExpirationRequired(), jwt.WithTimeFunc(now)}
	if name != "" {
		options = append(options, jwt.WithIssuer(name))
	}
	if audience != "" {
		options = append(options, jwt.WithAudience(audience))
	}
	return jwt.NewValidator(options...)
}

// issuer issues tokens by keys of its own.
type issuer struct {
	Issuer

	claims *jwt.Validator
	keys   *keySet
}

// issuerOf returns the issuer that a token names.
func (a *Authenticator) issuerOf(t *jwt.Token) (issuer, error) {
	name, _ := t.Claims.GetIssuer()
	for _, of := range a.issuers {
		if of.Name == name {
			return of, nil
		}
	}
	return issuer{}, jwt.ErrTokenInvalidIssuer
}

// publicMethods returns the algorithms of the JWKS address.
func publicMethods() []string { return []string{"RS256", "ES256", "EdDSA"} }

var errCritical = errors.New("the token requires an extension (crit)")

// allowed is the claims that a key allows its tokens.
type allowed struct {
	roles  []payment.Role
	claims *jwt.Validator
	// subject is the claim that names staff, empty for sub; door is the door of staff.
	subject, door string
}

// key chooses the key by the algorithm and the issuer, so that no key serves for another algorithm or issuer.
func (a *Authenticator) key(ctx context.Context, t *jwt.Token) (key any, may allowed, err error) {
	if _, ok := t.Header["crit"]; ok { // RFC 7515, 4.1.11: not understood is refused
		return nil, allowed{}, errCritical
	}
	if t.Method == jwt.SigningMethodHS256 {
		k, err := a.hs256(t)
		return k.Secret, allowed{k.Roles, a.shared, "", a.opts.Door}, err
	}
	of, err := a.issuerOf(t)
	if err != nil {
		return nil, allowed{}, err
	}
	key, err = of.keys.key(ctx, t)
	return key, allowed{of.Roles, of.claims, of.SubjectClaim, of.Door}, err
}

func (a *Authenticator) claimed(ctx context.Context, token string) (authz.Actor, error) {
	if actor, ok := a.seen.actor(token, a.opts.Now()); ok {
		return actor, nil
	}
	c := &claims{}
	var may allowed
	parsed, err := a.parser.ParseWithClaims(token, c, func(t *jwt.Token) (key any, err error) {
		key, may, err = a.key(ctx, t)
		return key, err
	})
	if err == nil {
		err = may.claims.Validate(c)
	}
	if errors.Is(err, ErrUnavailable) {
		return authz.Actor{}, ErrUnavailable
	}
	if err != nil {
		return authz.Actor{}, refuse(reason(err))
	}
	if !c.isAccess(parsed.Header) {
		return authz.Actor{}, refuse("this is not an access token, but an ID token or another token for a client")
	}
	actor, err := c.actor(may.roles)
	if err == nil {
		actor, err = c.named(actor, may)
	}
	if err == nil {
		err = a.staffLife(c, actor)
	}
	if err == nil && parsed.Method == jwt.SigningMethodHS256 {
		a.seen.keep(token, c.verified(actor))
	}
	return actor, err
}

// staffLife refuses a token of staff that lasts too long: a thief of it would have the rights of staff until it expires.
func (a *Authenticator) staffLife(c *claims, actor authz.Actor) error {
	if a.opts.StaffLife == 0 || !actor.Has(payment.RoleSupport, payment.RoleAdmin) {
		return nil
	}
	begins := a.opts.Now()
	if iat, err := c.GetIssuedAt(); err == nil && iat != nil && iat.Before(begins) {
		begins = iat.Time
	}
	if exp, err := c.GetExpirationTime(); err == nil && exp != nil && exp.Sub(begins) > a.opts.StaffLife {
		return refuse(fmt.Sprintf("a staff token may be valid for %s at most", a.opts.StaffLife))
	}
	return nil
}

// verified is for how long the token's word may be taken.
func (c *claims) verified(actor authz.Actor) verified {
	v := verified{actor: actor}
	if exp, err := c.GetExpirationTime(); err == nil && exp != nil {
		v.until = exp.Time
	}
	if nbf, err := c.GetNotBefore(); err == nil && nbf != nil {
		v.begins = nbf.Time
	}
	return v
}

// reason is the part of a refusal that is safe to show to the caller.
func reason(err error) string {
	for _, r := range []struct {
		is   error
		text string
	}{
		{jwt.ErrTokenMalformed, "this is not a token"},
		{jwt.ErrTokenSignatureInvalid, "the token's signature or algorithm is not accepted"},
		{jwt.ErrTokenInvalidIssuer, "the token's iss is not accepted"},
		{jwt.ErrTokenUnverifiable, "the token's key or algorithm is not accepted"},
		{jwt.ErrTokenExpired, "the token has expired"},
		{jwt.ErrTokenNotValidYet, "the token is not valid yet"},
		{jwt.ErrTokenInvalidAudience, "the token's aud is not accepted"},
		{jwt.ErrTokenRequiredClaimMissing, "the token lacks exp, iss or aud"},
	} {
		if errors.Is(err, r.is) {
			return r.text
		}
	}
	return "the token's claims are malformed"
}

func (c *claims) actor(allowed []payment.Role) (authz.Actor, error) {
	sub, _ := c.GetSubject() // a sub that is no text is no name either
	if _, err := authz.ParseUserID(sub); err != nil {
		return authz.Actor{}, refuse("the token's sub " + err.Error())
	}
	roles, ok := c.roles()
	if !ok {
		return authz.Actor{}, refuse("the token's roles must be a list of texts")
	}
	roles = slices.DeleteFunc(roles, func(r payment.Role) bool { return !slices.Contains(allowed, r) })
	if len(roles) == 0 {
		return authz.Actor{}, forbid("the token has no role that paylatch knows and that the token's key allows", authz.RoleError{Needed: allowed})
	}
	return authz.Actor{Subject: sub, Roles: roles}, nil
}

// named sets the name and the door of staff, by the settings of the key.
func (c *claims) named(actor authz.Actor, may allowed) (authz.Actor, error) {
	if !actor.Has(payment.RoleSupport, payment.RoleAdmin) {
		return actor, nil
	}
	actor.Door = may.door
	if may.subject == "" || may.subject == "sub" {
		return actor, nil
	}
	name, _ := claim(c.MapClaims, may.subject).(string)
	if _, err := authz.ParseUserID(name); err != nil {
		return authz.Actor{}, refuse("the token's " + may.subject + " " + err.Error())
	}
	if verified, _ := c.MapClaims["email_verified"].(bool); may.subject == "email" && !verified {
		return authz.Actor{}, refuse("the token's email is not verified")
	}
	actor.Subject = name
	return actor, nil
}

// roles returns the roles of the claim that paylatch defines, and whether the claim is a list of strings.
func (c *claims) roles() ([]payment.Role, bool) {
	list, ok := c.MapClaims["roles"].([]any)
	if !ok {
		return nil, false
	}
	var roles []payment.Role
	for _, item := range list {
		text, ok := item.(string)
		if !ok {
			return nil, false
		}
		if role := payment.Role(text); isRole(role) && !slices.Contains(roles, role) {
			roles = append(roles, role)
		}
	}
	return roles, true
}

func isRole(r payment.Role) bool { return slices.Contains(allRoles(), r) }

func allRoles() []payment.Role {
	return []payment.Role{payment.RoleCustomer, payment.RoleService, payment.RoleSupport, payment.RoleAdmin}
}
