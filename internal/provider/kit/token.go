package kit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Tokens caches an OAuth access token (client credentials) that all calls of an account share. The token is fetched on
// first use and again before it expires, once for all waiters. No error contains the token or the secret.
type Tokens struct {
	url, id, secret string
	form            url.Values
	http            *http.Client
	now             func() time.Time
	flight          singleflight.Group

	mu    sync.Mutex
	value string
	until time.Time
}

const (
	// tokenPatience limits the time of a fetch. If its caller gives up, the fetch continues for the other waiters.
	tokenPatience = 10 * time.Second
	// tokenMargin is the time before its expiry at which a token is no longer used.
	tokenMargin = time.Minute
)

var errNoToken = errors.New("the provider issued no access token")

// NewTokens returns the tokens of a client's id and secret at an address. An empty scope is omitted. The clock now
// decides when tokens expire.
func NewTokens(address, id, secret, scope string, client *http.Client, now func() time.Time) *Tokens {
	form := url.Values{"grant_type": {"client_credentials"}}
	if scope != "" {
		form.Set("scope", scope)
	}
	return &Tokens{url: address, id: id, secret: secret, form: form, http: client, now: now}
}

// Token returns a token that has not expired.
func (t *Tokens) Token(ctx context.Context) (string, error) {
	if token := t.kept(); token != "" {
		return token, nil
	}
	fetched := t.flight.DoChan("", func() (any, error) {
		if token := t.kept(); token != "" {
			return token, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tokenPatience)
		defer cancel()
		return t.fetch(ctx)
	})
	select {
	case <-ctx.Done():
		return "", fmt.Errorf("%w: %w", errNoToken, context.Cause(ctx))
	case f := <-fetched:
		token, _ := f.Val.(string)
		return token, f.Err
	}
}

func (t *Tokens) kept() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.value == "" || !t.now().Before(t.until) {
		return ""
	}
	return t.value
}

// Drop discards a rejected token, unless a newer one has replaced it.
func (t *Tokens) Drop(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.value == token {
		t.value = ""
	}
}

// fetch gets a token and caches it. Its error never wraps gateway.ErrNotSent, because that error would concern the
// token's request and not the call.
func (t *Tokens) fetch(ctx context.Context) (string, error) {
	as := http.Request{Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}}
	as.SetBasicAuth(t.id, t.secret)
	began := t.now()
	a, err := Do(ctx, t.http, Request{
		Method: http.MethodPost, URL: t.url, Header: as.Header, Body: []byte(t.form.Encode()),
	})
	if err != nil {
		return "", fmt.Errorf("%w: %s", errNoToken, err.Error())
	}
	var said struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int64  `json:"expires_in"`
		Error       string `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &said); err != nil || a.Status != http.StatusOK || said.AccessToken == "" || said.ExpiresIn <= 0 {
		return "", fmt.Errorf("%w: it responded with %d %s", errNoToken, a.Status, said.Error)
	}
	life := time.Duration(said.ExpiresIn) * time.Second
	t.mu.Lock()
	defer t.mu.Unlock()
	t.value, t.until = said.AccessToken, began.Add(life-min(tokenMargin, life/2))
	return t.value, nil
}
