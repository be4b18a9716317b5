package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"
)

const (
	fetchLimit = 5 * time.Second // one fetch
	maxSet     = 1 << 20         // bytes of a key set
	retryMin   = time.Second
	retryMax   = 30 * time.Second

	// A token with an unknown key may be forged, so it causes a fetch only this
	// often. Every fetch brings all keys: a flood of forged ones can't delay the
	// first token after a rotation by more than unknownEvery.
	unknownEvery = 10 * time.Second
	unknownBurst = 3
)

// keySet is the keys of a JWKS address, as last fetched.
type keySet struct {
	url     string
	opts    Options
	current atomic.Pointer[keys]
	busy    chan struct{} // held while fetching
	failed  bool          // the last fetch; guarded by busy
	unknown *rate.Limiter
}

type keys struct{ keyfunc.Keyfunc }

func newKeySet(url string, o Options) *keySet {
	client := *o.Client
	client.CheckRedirect = stayEncrypted
	o.Client = &client
	return &keySet{url: url, opts: o, busy: make(chan struct{}, 1), unknown: rate.NewLimiter(rate.Every(unknownEvery), unknownBurst)}
}

const maxRedirects = 10

// stayEncrypted refuses to leave https: over plain HTTP the keys could be replaced.
func stayEncrypted(next *http.Request, via []*http.Request) error {
	if next.URL.Scheme != "https" && via[0].URL.Scheme == "https" {
		return errors.New("redirected to plain HTTP")
	}
	if len(via) >= maxRedirects {
		return errors.New("redirected too often")
	}
	return nil
}

// key returns the key or the keys that verify the token. A token without a kid is tried with all keys.
func (s *keySet) key(ctx context.Context, t *jwt.Token) (any, error) {
	seen := s.current.Load()
	key, err := seen.find(ctx, t)
	if !errors.Is(err, jwkset.ErrKeyNotFound) {
		return key, err
	}
	if err := s.renew(ctx, seen); err != nil {
		return nil, err
	}
	return s.current.Load().find(ctx, t)
}

func (k *keys) find(ctx context.Context, t *jwt.Token) (any, error) {
	if k == nil {
		return nil, jwkset.ErrKeyNotFound
	}
	return k.KeyfuncCtx(ctx)(t)
}

// renew fetches the keys unless newer ones than seen are loaded, or it would
// be too soon.
func (s *keySet) renew(ctx context.Context, seen *keys) error {
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer s.release()
	switch {
	case s.current.Load() != seen:
		return nil
	case s.unknown.AllowN(s.opts.Now(), 1):
		return s.fetch(ctx)
	case s.failed:
		return ErrUnavailable
	}
	return nil
}

func (s *keySet) acquire(ctx context.Context) error {
	select {
	case s.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
}

func (s *keySet) release() { <-s.busy }

// run fetches the keys at once and then regularly, sooner after a failure.
func (s *keySet) run(ctx context.Context) {
	retry := retryMin
	for {
		wait := s.opts.Refresh
		if err := s.refresh(ctx); err != nil {
			wait = min(retry, s.opts.Refresh)
			retry = min(2*retry, retryMax)
		} else {
			retry = retryMin
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

func (s *keySet) refresh(ctx context.Context) error {
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer s.release()
	return s.fetch(ctx)
}

// fetch replaces the keys, or keeps them if the fetch fails. It goes on when the caller leaves, since others wait for the same
// keys.
func (s *keySet) fetch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchLimit)
	defer cancel()
	set, err := s.download(ctx)
	s.failed = err != nil
	if err != nil {
		s.opts.Log(fmt.Errorf("fetch keys: %w", err))
		return ErrUnavailable
	}
	s.current.Store(set)
	return nil
}

func (s *keySet) download(ctx context.Context) (*keys, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err //nolint:wrapcheck // fetch wraps it
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	resp, err := s.opts.Client.Do(req)
	if err != nil {
		return nil, err //nolint:wrapcheck // fetch wraps it
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answered with status %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxSet+1))
	if err != nil {
		return nil, err //nolint:wrapcheck // fetch wraps it
	}
	if len(body) > maxSet {
		return nil, fmt.Errorf("longer than %d bytes", maxSet)
	}
	return readKeys(ctx, body)
}
