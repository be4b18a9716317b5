package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// OpenIDOptions configure an OpenID. Issuer, ClientID and RedirectURL are required.
type OpenIDOptions struct {
	// Issuer is the provider, as its discovery document names it.
	Issuer string
	// ClientID and ClientSecret are the credentials of paylatch at the provider; a public client has no secret.
	ClientID, ClientSecret string
	// RedirectURL is the address to which the provider redirects people.
	RedirectURL string
	Scopes      []string
	// RolesClaim is the claim with the roles; by default roles. SubjectClaim is the claim with the person's name; by default sub. A name with
	// dots is a path if no claim has that name.
	RolesClaim, SubjectClaim string
	// Client calls the provider; nil: a client with a timeout of ten seconds.
	Client *http.Client
	// PendingSignIn is the clock; nil: the system's.
	PendingSignIn func() time.Time
}

// OpenID signs staff in at an OpenID provider: the authorization code flow of
// OpenID Connect Core 1.0, 3.1, with PKCE (RFC 7636). It is safe for concurrent
// use.
type OpenID struct {
	opts OpenIDOptions

	mu       sync.Mutex
	provider *oidc.Provider
}

// NewOpenID returns an OpenID. Its discovery document is fetched with the first sign-in.
func NewOpenID(o OpenIDOptions) *OpenID {
	if o.RolesClaim == "" {
		o.RolesClaim = "roles"
	}
	if o.SubjectClaim == "" {
		o.SubjectClaim = "sub"
	}
	if o.Client == nil {
		o.Client = &http.Client{Timeout: 10 * time.Second}
	}
	o.PendingSignIn = Options{Now: o.PendingSignIn}.withDefaults().Now
	return &OpenID{opts: o}
}

// PendingSignIn is a sign-in under way. It belongs in the session of the browser that
// began it, and nowhere else.
type PendingSignIn struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
}

// Begin returns the address at which the person signs in. It returns
// ErrUnavailable while the provider does not answer.
func (o *OpenID) Begin(ctx context.Context) (address string, p PendingSignIn, err error) {
	_, client, err := o.discover(ctx)
	if err != nil {
		return "", PendingSignIn{}, err
	}
	p = PendingSignIn{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	return client.AuthCodeURL(p.State, oidc.Nonce(p.Nonce), oauth2.S256ChallengeOption(p.Verifier)), p, nil
}

// Finish returns the person that came back from the provider with a state and a code. It
// returns ErrUnauthenticated, ErrUnavailable and, beside the name of a person with
// neither the role support nor admin, payment.ErrForbidden.
func (o *OpenID) Finish(ctx context.Context, p PendingSignIn, state, code string) (authz.Actor, error) {
	if p.State == "" || subtle.ConstantTimeCompare([]byte(p.State), []byte(state)) != 1 {
		return authz.Actor{}, refuse("this browser did not start the sign-in, or has already finished it")
	}
	provider, client, err := o.discover(ctx)
	if err != nil {
		return authz.Actor{}, err
	}
	ctx = oidc.ClientContext(ctx, o.opts.Client)
	tokens, err := client.Exchange(ctx, code, oauth2.VerifierOption(p.Verifier))
	if err != nil {
		return authz.Actor{}, exchangeError(err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	verifier := provider.VerifierContext(ctx, &oidc.Config{ClientID: o.opts.ClientID, Now: o.opts.PendingSignIn})
	token, err := verifier.Verify(ctx, raw)
	if err != nil {
		return authz.Actor{}, refuse(verifyReason(err))
	}
	if subtle.ConstantTimeCompare([]byte(p.Nonce), []byte(token.Nonce)) != 1 {
		return authz.Actor{}, refuse("the provider's response belongs to another sign-in")
	}
	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return authz.Actor{}, refuse("the claims in the provider's response are malformed")
	}
	return o.staff(claims)
}

// discover reads the provider's discovery document, once.
func (o *OpenID) discover(ctx context.Context) (*oidc.Provider, oauth2.Config, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.provider == nil {
		// The provider keeps the context's client for its keys, not the context.
		p, err := oidc.NewProvider(oidc.ClientContext(ctx, o.opts.Client), o.opts.Issuer)
		if err != nil {
			return nil, oauth2.Config{}, fmt.Errorf("%w: the OpenID provider's metadata can't be read: %w", ErrUnavailable, err)
		}
		o.provider = p
	}
	return o.provider, oauth2.Config{
		ClientID: o.opts.ClientID, ClientSecret: o.opts.ClientSecret, RedirectURL: o.opts.RedirectURL,
		Endpoint: o.provider.Endpoint(), Scopes: o.opts.Scopes,
	}, nil
}

// exchangeError separates a code that the provider refused from a provider that did
// not answer. It repeats nothing of the answer's body.
func exchangeError(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.Response != nil && refused.Response.StatusCode < http.StatusInternalServerError {
		return refuse("the provider refuses the code")
	}
	return fmt.Errorf("%w: the OpenID provider gave no token", ErrUnavailable)
}

func verifyReason(err error) string {
	if errors.As(err, new(*oidc.TokenExpiredError)) {
		return "the provider's response has expired"
	}
	return "the provider's response is not proven to be for this service"
}

func (o *OpenID) staff(claims map[string]any) (authz.Actor, error) {
	name, _ := claim(claims, o.opts.SubjectClaim).(string)
	if _, err := authz.ParseUserID(name); err != nil {
		return authz.Actor{}, refuse("the claim " + o.opts.SubjectClaim + " " + err.Error())
	}
	var texts []any
	switch value := claim(claims, o.opts.RolesClaim).(type) {
	case string:
		texts = []any{value}
	case []any:
		texts = value
	}
	actor := authz.Actor{Subject: name}
	staff := []payment.Role{payment.RoleSupport, payment.RoleAdmin}
	for _, role := range staff {
		if slices.Contains(texts, any(string(role))) {
			actor.Roles = append(actor.Roles, role)
		}
	}
	if len(actor.Roles) == 0 {
		return actor, forbid("the claim "+o.opts.RolesClaim+" holds neither support nor admin", authz.RoleError{Needed: staff})
	}
	return actor, nil
}

// claim finds a claim by its name or, if there is none, by a path.
func claim(claims map[string]any, name string) any {
	if value, ok := claims[name]; ok {
		return value
	}
	first, rest, found := strings.Cut(name, ".")
	inner, ok := claims[first].(map[string]any)
	if !found || !ok {
		return nil
	}
	return claim(inner, rest)
}
