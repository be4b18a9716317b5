package auth

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// APIKeys stores API keys; *postgres.APIKeyStore in the program.
type APIKeys interface {
	// KeyByHash returns authz.ErrKeyNotFound for a key that does not exist, and payment.ErrUnavailable.
	KeyByHash(ctx context.Context, hash authz.KeyHash) (authz.Key, error)
	// KeyUsed writes that a key is used now. A key that does not exist is no error.
	KeyUsed(ctx context.Context, id uuid.UUID) error
}

const (
	// keyFresh is how long a lookup is valid for later requests. A revoked key ends in all processes within this time.
	keyFresh = 500 * time.Millisecond
	// keyNoted is how often a use is written.
	keyNoted = time.Minute
	// strangeKeys is how many lookups of keys that were not valid before run at once, and strangeWait how long one waits for
	// its turn: forged keys in the right form leave the connections to others.
	strangeKeys = 4
	strangeWait = 2 * time.Second
)

// keyRing authenticates API keys. It asks the store for each key twice a second at most, whatever the number of requests. While the
// store is unavailable, all keys are refused with its error.
type keyRing struct {
	store   APIKeys
	now     func() time.Time
	flights singleflight.Group
	turns   chan struct{}
	used    chan uuid.UUID

	mu   sync.Mutex
	seen map[authz.KeyHash]*seenKey
}

// seenKey is a valid key, as the store had it at read or later.
type seenKey struct {
	authz.Key

	read time.Time
	// noted is set once its use is to be written.
	noted bool
}

func newKeyRing(store APIKeys, now func() time.Time) *keyRing {
	return &keyRing{
		store: store, now: now, turns: make(chan struct{}, strangeKeys), used: make(chan uuid.UUID, strangeKeys),
		seen: make(map[authz.KeyHash]*seenKey),
	}
}

// actor returns the bearer of a key.
func (r *keyRing) actor(ctx context.Context, text string) (authz.Actor, error) {
	hash, formed := authz.HashKey(text)
	if !formed {
		return authz.Actor{}, refuse("this is not an API key: it is incomplete or mistyped")
	}
	key, err := r.key(ctx, hash)
	switch {
	case errors.Is(err, authz.ErrKeyNotFound):
		return authz.Actor{}, refuse("the API key is unknown: it was revoked, or belongs to another service")
	case err != nil:
		return authz.Actor{}, err
	case key.Expired(r.now()):
		return authz.Actor{}, refuse("the API key has expired")
	}
	r.note(key)
	return key.Actor(), nil
}

// key returns a key as the store had it at most keyFresh ago, or since this request began.
func (r *keyRing) key(ctx context.Context, hash authz.KeyHash) (*seenKey, error) {
	began := r.now()
	for {
		if k := r.last(hash); k != nil && (!k.read.Before(began) || r.now().Sub(k.read) < keyFresh) {
			return k, nil
		}
		// The lookup goes on when the caller leaves, since others wait for it.
		looked := r.flights.DoChan(string(hash[:]), func() (any, error) {
			read := r.now()
			return read, r.look(context.WithoutCancel(ctx), hash, read)
		})
		select {
		case got := <-looked:
			// A lookup that began before this request may have missed a key that was made since.
			if read, _ := got.Val.(time.Time); got.Err != nil && (!errors.Is(got.Err, authz.ErrKeyNotFound) || !read.Before(began)) {
				return nil, got.Err
			}
		case <-ctx.Done():
			return nil, ctx.Err() //nolint:wrapcheck // it is matched, never shown
		}
	}
}

func (r *keyRing) last(hash authz.KeyHash) *seenKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[hash]
}

// look asks the store for a key, and keeps it.
func (r *keyRing) look(ctx context.Context, hash authz.KeyHash, read time.Time) error {
	if r.last(hash) == nil {
		leave, err := r.enter()
		if err != nil {
			return err
		}
		defer leave()
	}
	key, err := r.store.KeyByHash(ctx, hash)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case errors.Is(err, authz.ErrKeyNotFound):
		delete(r.seen, hash)
	case err == nil:
		if len(r.seen) >= cacheLength {
			clear(r.seen)
		}
		r.seen[hash] = &seenKey{Key: key, read: read}
	}
	return err
}

// enter waits for the turn of a key that was not valid before.
func (r *keyRing) enter() (leave func(), err error) {
	limit := time.NewTimer(strangeWait)
	defer limit.Stop()
	select {
	case r.turns <- struct{}{}:
		return func() { <-r.turns }, nil
	case <-limit.C:
		return nil, payment.ErrOverloaded
	}
}

// note has run write a use, without waiting. A use that finds no room is noted after the next lookup.
func (r *keyRing) note(k *seenKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k.noted || k.LastUsedAt != nil && k.read.Sub(*k.LastUsedAt) < keyNoted {
		return
	}
	select {
	case r.used <- k.ID:
		k.noted = true
	default:
	}
}

// run writes the uses until ctx ends. A use that can't be written is dropped: the next lookup notes it again.
func (r *keyRing) run(ctx context.Context) {
	for {
		select {
		case id := <-r.used:
			_ = r.store.KeyUsed(ctx, id)
		case <-ctx.Done():
			return
		}
	}
}
