package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// minSecret is what RFC 7518, 3.2 demands of an HS256 key, in bytes.
const minSecret = 32

// maxToken is the longest token that is looked at, in bytes.
const maxToken = 8 << 10

// Options configure an Authenticator.
type Options struct {
	// HS256 verify HS256 tokens. None: none are taken.
	HS256 []HS256Key
	// JWKSURL is where the keys of RS256, ES256 and EdDSA tokens are. Empty: none
	// are taken.
	JWKSURL string
	// Issuer and Audience are what iss must be and aud must contain; empty: not
	// checked. A JWKSURL needs both: its keys sign for other services, too.
	Issuer, Audience string
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
	return o
}

// Authenticator checks tokens. It is safe for concurrent use.
type Authenticator struct {
	opts   Options
	parser *jwt.Parser
	keys   *keySet // nil: no JWKS
	status statusKeys
	seen   cache
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
	a := &Authenticator{opts: o, parser: newParser(o), status: status}
	if o.JWKSURL != "" {
		a.keys = newKeySet(o)
	}
	return a, nil
}

func (o Options) check() error {
	if len(o.HS256) == 0 && o.JWKSURL == "" {
		return errors.New("no way to check tokens: neither a secret nor a JWKS address")
	}
	for _, k := range o.HS256 {
		if len(k.Secret) < minSecret {
			return fmt.Errorf("an HS256 secret must be at least %d bytes long", minSecret)
		}
	}
	if o.JWKSURL != "" && (o.Issuer == "" || o.Audience == "") {
		return errors.New("a JWKS address needs an issuer and an audience")
	}
	return nil
}

// Run keeps the keys of the JWKS address fresh until ctx ends; then it returns
// nil. Without it only tokens with unknown keys cause a fetch, and keys that were
// withdrawn stay valid.
func (a *Authenticator) Run(ctx context.Context) error {
	if a.keys == nil {
		<-ctx.Done()
		return nil
	}
	return a.keys.run(ctx)
}

// Authenticate returns the bearer of the token. The token is what Bearer returns,
// onBehalfOf the On-Behalf-Of header or empty. Its errors are ErrUnauthenticated,
// ErrUnavailable, payment.ErrForbidden and, for an On-Behalf-Of that can't be a
// user, a payment.ValidationError.
func (a *Authenticator) Authenticate(ctx context.Context, bearer, onBehalfOf string) (authz.Actor, error) {
	switch {
	case bearer == "":
		return authz.Actor{}, refuse("there is no token")
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
	id, err := authz.ParseUserID(user)
	if err != nil {
		return authz.Actor{}, &payment.ValidationError{Fields: []payment.FieldError{{Field: "On-Behalf-Of", Message: err.Error()}}}
	}
	actor.OnBehalfOf = id
	return actor, nil
}

// StatusToken returns a token by which its bearer may read this one attempt
// until expires.
func (a *Authenticator) StatusToken(id payment.AttemptID, expires time.Time) string {
	return a.status.token(id, expires)
}
