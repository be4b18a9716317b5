package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// minSecret is the minimum length of an HS256 key by RFC 7518, 3.2, in bytes.
const minSecret = 32

// maxToken is the longest token that is looked at, in bytes.
const maxToken = 8 << 10

// Options configure an Authenticator.
type Options struct {
	// HS256 are the keys that verify HS256 tokens. Without keys all HS256 tokens are refused.
	HS256 []HS256Key
	// Issuers issue RS256, ES256 and EdDSA tokens. Without issuers all such tokens are refused.
	Issuers []Issuer
	// JWKSURL is short for an issuer of the name Issuer, with Audience and all roles.
	JWKSURL string
	// Issuer and Audience are the iss of HS256 tokens and a member of their aud; empty: not checked.
	Issuer, Audience string
	// Door is the authz.Actor's of staff with HS256 tokens.
	Door string
	// StaffLife is how long a token of the roles support and admin may last at the
	// most; 0: any time.
	StaffLife time.Duration
	// APIKeys are the API keys; nil: all are refused.
	APIKeys APIKeys
	// Keys is the ring that status tokens are signed with, see Keys.
	Keys []Key
	// Now is the clock; nil: the system's.
	Now func() time.Time
	// Client fetches the keys; nil: a new one.
	Client *http.Client
	// Refresh is how often the keys are fetched; 0: every five minutes.
	Refresh time.Duration
	// Log takes the error of every fetch that failed; nil: it is dropped.
	Log func(error)
}

// Issuer issues tokens and publishes their keys. All fields are required, since its keys sign for other services, too.
type Issuer struct {
	// Name is the iss of its tokens, and Audience a member of their aud.
	Name, Audience string
	// JWKSURL is the address of the keys.
	JWKSURL string
	// Roles are the roles that tokens of these keys may have.
	Roles []payment.Role
	// SubjectClaim names staff; empty: sub. Door is the authz.Actor's of staff.
	SubjectClaim, Door string
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default of the clock that everything else is given
	}
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	if o.Refresh <= 0 {
		o.Refresh = 5 * time.Minute
	}
	if o.Log == nil {
		o.Log = func(error) {}
	}
	if o.JWKSURL != "" {
		o.Issuers = append([]Issuer{{Name: o.Issuer, Audience: o.Audience, JWKSURL: o.JWKSURL, Roles: allRoles()}}, o.Issuers...)
	}
	return o
}

// Authenticator checks tokens. It is safe for concurrent use.
type Authenticator struct {
	opts   Options
	parser *jwt.Parser
	// shared checks the claims of HS256 tokens.
	shared  *jwt.Validator
	issuers []issuer
	status  statusKeys
	seen    cache
	// apiKeys is nil without API keys.
	apiKeys *keyRing
}

// New makes an Authenticator. It fetches nothing: Run does.
func New(o Options) (*Authenticator, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	status, err := newStatusKeys(o.Keys)
	if err != nil {
		return nil, err
	}
	a := &Authenticator{opts: o, parser: newParser(o), shared: newValidator(o.Issuer, o.Audience, o.Now), status: status}
	if o.APIKeys != nil {
		a.apiKeys = newKeyRing(o.APIKeys, o.Now)
	}
	for _, of := range o.Issuers {
		a.issuers = append(a.issuers, issuer{of, newValidator(of.Name, of.Audience, o.Now), newKeySet(of.JWKSURL, o)})
	}
	return a, nil
}

func (o Options) check() error {
	if len(o.HS256) == 0 && len(o.Issuers) == 0 && o.APIKeys == nil {
		return errors.New("tokens can't be checked: configure a secret, a JWKS address or API keys")
	}
	for _, k := range o.HS256 {
		if len(k.Secret) < minSecret {
			return fmt.Errorf("an HS256 secret must be at least %d bytes long", minSecret)
		}
	}
	for _, of := range o.Issuers {
		if of.JWKSURL == "" || of.Name == "" || of.Audience == "" {
			return errors.New("a JWKS address needs an issuer and an audience")
		}
	}
	return nil
}

// Run keeps the issuers' keys fresh, and writes the uses of API keys, until ctx ends; then it returns
// nil. Without it only tokens with unknown keys cause a fetch, and keys that were
// withdrawn stay valid.
func (a *Authenticator) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, of := range a.issuers {
		all.Go(func() { of.keys.run(ctx) })
	}
	if a.apiKeys != nil {
		all.Go(func() { a.apiKeys.run(ctx) })
	}
	<-ctx.Done()
	all.Wait()
	return nil
}

// Authenticate returns the bearer of the token or API key. The argument bearer is the token from Bearer, onBehalfOf the On-Behalf-Of
// header or empty. It returns ErrUnauthenticated, ErrUnavailable, payment.ErrForbidden, for an On-Behalf-Of that can't be a user a
// payment.ValidationError, and for an API key payment.ErrUnavailable and payment.ErrOverloaded.
func (a *Authenticator) Authenticate(ctx context.Context, bearer, onBehalfOf string) (authz.Actor, error) {
	switch {
	case bearer == "":
		return authz.Actor{}, refuse("the request has no token")
	case len(bearer) > maxToken:
		return authz.Actor{}, refuse("the token is too long")
	}
	actor, err := a.bearer(ctx, bearer)
	if err != nil {
		return authz.Actor{}, err
	}
	return actFor(actor, onBehalfOf)
}

func (a *Authenticator) bearer(ctx context.Context, token string) (authz.Actor, error) {
	if strings.HasPrefix(token, statusPrefix) {
		return a.status.actor(token, a.opts.Now())
	}
	if strings.HasPrefix(token, authz.KeyPrefix) {
		if a.apiKeys == nil {
			return authz.Actor{}, refuse("API keys are not accepted here")
		}
		return a.apiKeys.actor(ctx, token)
	}
	return a.claimed(ctx, token)
}

// actFor lets a service act for a user; any other actor stays itself.
func actFor(actor authz.Actor, user string) (authz.Actor, error) {
	switch {
	case user == "":
		return actor, nil
	case !actor.Has(payment.RoleService):
		return authz.Actor{}, forbid("only a service may act on behalf of a user",
			authz.RoleError{Needed: []payment.Role{payment.RoleService}, Or: "leave out On-Behalf-Of"})
	}
	id, err := authz.ParseOwner(user)
	if err != nil {
		return authz.Actor{}, &payment.ValidationError{Fields: []payment.FieldError{{Field: "On-Behalf-Of", Message: err.Error()}}}
	}
	actor.OnBehalfOf = id
	return actor, nil
}

// StatusToken returns a token whose bearer may read this one attempt until expires.
func (a *Authenticator) StatusToken(id payment.AttemptID, expires time.Time) string {
	return a.status.token(id, expires)
}
