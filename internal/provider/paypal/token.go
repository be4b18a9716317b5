package paypal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/paylatch/paylatch/internal/provider/call"
)

// tokens caches the access token that all calls of an account share: it is fetched on
// first use and before it expires, once for all waiters
// (https://developer.paypal.com/api/rest/authentication/). No error contains it, or the
// secret.
type tokens struct {
	url, id, secret string
	http            *http.Client
	now             func() time.Time
	flight          singleflight.Group

	mu    sync.Mutex
	value string
	until time.Time
}

const (
	// tokenPatience bounds a fetch, which continues for the other waiters when its
	// caller gives up.
	tokenPatience = 10 * time.Second
	// tokenMargin is how long before its expiry a token is no longer used.
	tokenMargin = time.Minute
)

var errNoToken = errors.New("PayPal gives no access token")

func newTokens(base, id, secret string, client *http.Client, now func() time.Time) *tokens {
	return &tokens{url: base + "/v1/oauth2/token", id: id, secret: secret, http: client, now: now}
}

// token returns a token that has not expired.
func (t *tokens) token(ctx context.Context) (string, error) {
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

func (t *tokens) kept() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.value == "" || !t.now().Before(t.until) {
		return ""
	}
	return t.value
}

// drop discards a rejected token, unless a newer one has replaced it.
func (t *tokens) drop(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.value == token {
		t.value = ""
	}
}

// fetch gets a token and caches it. Its error never wraps payment.ErrNotSent, which
// would be about the token's request and not about the call.
func (t *tokens) fetch(ctx context.Context) (string, error) {
	as := http.Request{Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}}
	as.SetBasicAuth(t.id, t.secret)
	began := t.now()
	a, err := call.Do(ctx, t.http, call.Request{
		Method: http.MethodPost, URL: t.url, Header: as.Header, Body: []byte("grant_type=client_credentials"),
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
		return "", fmt.Errorf("%w: it answers %d %s", errNoToken, a.Status, said.Error)
	}
	life := time.Duration(said.ExpiresIn) * time.Second
	t.mu.Lock()
	defer t.mu.Unlock()
	t.value, t.until = said.AccessToken, began.Add(life-min(tokenMargin, life/2))
	return t.value, nil
}
