package auth_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

// keyStore is API keys in memory.
type keyStore struct {
	mu      sync.Mutex
	keys    map[authz.KeyHash]authz.Key
	err     error
	lookups atomic.Int64
	running atomic.Int64
	// holds is received from in each lookup; nil for no wait.
	holds chan struct{}
	used  chan uuid.UUID
}

func (s *keyStore) KeyByHash(_ context.Context, hash authz.KeyHash) (authz.Key, error) {
	s.lookups.Add(1)
	s.running.Add(1)
	defer s.running.Add(-1)
	if s.holds != nil {
		<-s.holds
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return authz.Key{}, s.err
	}
	if k, found := s.keys[hash]; found {
		return k, nil
	}
	return authz.Key{}, authz.ErrKeyNotFound
}

func (s *keyStore) KeyUsed(_ context.Context, id uuid.UUID) error {
	s.used <- id
	return nil
}

// nextUse waits for a written use.
func (s *keyStore) nextUse(t *testing.T) uuid.UUID {
	t.Helper()
	select {
	case id := <-s.used:
		return id
	case <-time.After(time.Minute):
		require.Fail(t, "no use was written")
		return uuid.Nil
	}
}

// make adds a key and returns its text.
func (s *keyStore) make(k authz.Key) string {
	text, _, hash := authz.NewKeyText()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[hash] = k
	return text
}

func (s *keyStore) revoke(text string) {
	hash, _ := authz.HashKey(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.keys, hash)
}

// hands is a clock that a test moves.
type hands struct {
	mu  sync.Mutex
	now time.Time
}

func (h *hands) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hands) move(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

func newKeyed(t *testing.T) (*auth.Authenticator, *keyStore, *hands) {
	t.Helper()
	s := &keyStore{keys: map[authz.KeyHash]authz.Key{}, used: make(chan uuid.UUID, 100)}
	h := &hands{now: time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)}
	a, err := auth.New(auth.Options{APIKeys: s, Keys: []auth.Key{{Secret: []byte(strings.Repeat("k", 32))}}, Now: h.Now})
	require.NoError(t, err)
	return a, s, h
}

func service() authz.Key {
	return authz.Key{ID: uuid.New(), Roles: []payment.Role{payment.RoleService}}
}

func TestAPIKey(t *testing.T) {
	t.Parallel()
	a, s, h := newKeyed(t)
	k := service()
	text := s.make(k)
	actor, err := a.Authenticate(t.Context(), text, "")
	require.NoError(t, err)
	require.Equal(t, "key:"+k.ID.String(), actor.Subject)
	require.Equal(t, k.Roles, actor.Roles)
	require.Equal(t, k.ID, actor.Key.ID)
	actor, err = a.Authenticate(t.Context(), text, "u1")
	require.NoError(t, err)
	require.Equal(t, payment.UserID("u1"), actor.User())
	_, err = a.Authenticate(t.Context(), s.make(authz.Key{Roles: []payment.Role{payment.RoleAdmin}}), "u1")
	require.ErrorIs(t, err, payment.ErrForbidden)
	require.EqualValues(t, 2, s.lookups.Load())

	end := h.Now().Add(time.Hour)
	k.ExpiresAt = &end
	text = s.make(k)
	_, err = a.Authenticate(t.Context(), text, "")
	require.NoError(t, err)
	h.move(time.Hour - time.Nanosecond)
	_, err = a.Authenticate(t.Context(), text, "")
	require.NoError(t, err)
	h.move(time.Nanosecond)
	_, err = a.Authenticate(t.Context(), text, "")
	require.ErrorIs(t, err, auth.ErrUnauthenticated)
	require.ErrorContains(t, err, "expired")
}

func TestAPIKeyMalformed(t *testing.T) {
	t.Parallel()
	a, s, _ := newKeyed(t)
	text := s.make(service())
	for _, wrong := range []string{"plk_", "plk_x", text[:len(text)-1], text + "A", strings.Replace(text, "plk_", "plk_A", 1)} {
		_, err := a.Authenticate(t.Context(), wrong, "")
		require.ErrorIs(t, err, auth.ErrUnauthenticated, wrong)
		require.NotContains(t, err.Error(), wrong)
	}
	require.Zero(t, s.lookups.Load())
}

// A revoked key ends once its lookup is half a second old; a new key is valid at once, also after it was refused.
func TestAPIKeyRevoked(t *testing.T) {
	t.Parallel()
	a, s, h := newKeyed(t)
	k := service()
	text := s.make(k)
	try := func() error {
		_, err := a.Authenticate(t.Context(), text, "")
		return err
	}
	require.NoError(t, try())
	s.revoke(text)
	h.move(499 * time.Millisecond)
	require.NoError(t, try())
	h.move(time.Millisecond)
	require.ErrorIs(t, try(), auth.ErrUnauthenticated)
	require.ErrorContains(t, try(), "revoked")
	hash, _ := authz.HashKey(text)
	s.keys[hash] = k
	require.NoError(t, try())
}

// While the store is unavailable, no key is accepted, however valid it was half a second ago.
func TestAPIKeyFailsClosed(t *testing.T) {
	t.Parallel()
	a, s, h := newKeyed(t)
	text := s.make(service())
	_, err := a.Authenticate(t.Context(), text, "")
	require.NoError(t, err)
	s.err = payment.ErrUnavailable
	h.move(500 * time.Millisecond)
	_, err = a.Authenticate(t.Context(), text, "")
	require.ErrorIs(t, err, payment.ErrUnavailable)
	s.err = nil
	_, err = a.Authenticate(t.Context(), text, "")
	require.NoError(t, err)
}

// Requests at once share a lookup.
func TestAPIKeyAtOnce(t *testing.T) {
	t.Parallel()
	a, s, _ := newKeyed(t)
	s.holds = make(chan struct{})
	text := s.make(service())
	var all sync.WaitGroup
	var refused atomic.Int64
	for range 200 {
		all.Go(func() {
			if _, err := a.Authenticate(context.WithoutCancel(t.Context()), text, ""); err != nil {
				refused.Add(1)
			}
		})
	}
	close(s.holds)
	all.Wait()
	require.Zero(t, refused.Load())
	require.EqualValues(t, 1, s.lookups.Load())
}

// A lookup goes on for the others if the first caller leaves.
func TestAPIKeyOfACallerThatLeaves(t *testing.T) {
	t.Parallel()
	a, s, _ := newKeyed(t)
	s.holds = make(chan struct{})
	text := s.make(service())
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := a.Authenticate(ctx, text, "")
		left <- err
	}()
	require.Eventually(t, func() bool { return s.lookups.Load() == 1 }, time.Minute, time.Millisecond)
	leave()
	require.ErrorIs(t, <-left, context.Canceled)
	close(s.holds)
	_, err := a.Authenticate(t.Context(), text, "")
	require.NoError(t, err)
	require.EqualValues(t, 1, s.lookups.Load())
}

// Forged keys in the right form have few lookups at once, and none of a key that was valid before.
func TestForgedAPIKeys(t *testing.T) {
	t.Parallel()
	a, s, h := newKeyed(t)
	known := s.make(service())
	_, err := a.Authenticate(t.Context(), known, "")
	require.NoError(t, err)
	s.holds = make(chan struct{})
	before := s.lookups.Load()
	var all sync.WaitGroup
	for range 50 {
		text, _, _ := authz.NewKeyText()
		all.Go(func() { _, _ = a.Authenticate(context.WithoutCancel(t.Context()), text, "") })
	}
	require.Eventually(t, func() bool { return s.running.Load() == 4 }, time.Minute, time.Millisecond)
	h.move(time.Second)
	valid := make(chan error)
	go func() {
		_, err := a.Authenticate(context.WithoutCancel(t.Context()), known, "")
		valid <- err
	}()
	require.Eventually(t, func() bool { return s.running.Load() == 5 }, time.Minute, time.Millisecond)
	require.Equal(t, before+5, s.lookups.Load())
	close(s.holds)
	require.NoError(t, <-valid)
	all.Wait()
}

// A use is written once, and again after a minute; a refused key has no use.
func TestAPIKeyUsed(t *testing.T) {
	t.Parallel()
	a, s, h := newKeyed(t)
	go func() { _ = a.Run(t.Context()) }()
	past := h.Now().Add(-time.Second)
	fresh, recent, over := service(), service(), service() // over has expired
	recent.LastUsedAt, over.ExpiresAt = &past, &past
	_, err := a.Authenticate(t.Context(), s.make(over), "")
	require.ErrorIs(t, err, auth.ErrUnauthenticated)
	text := s.make(fresh)
	for range 10 {
		_, err := a.Authenticate(t.Context(), text, "")
		require.NoError(t, err)
	}
	require.Equal(t, fresh.ID, s.nextUse(t))
	other := s.make(recent)
	_, err = a.Authenticate(t.Context(), other, "")
	require.NoError(t, err)
	h.move(time.Minute)
	_, err = a.Authenticate(t.Context(), other, "")
	require.NoError(t, err)
	require.Equal(t, recent.ID, s.nextUse(t), "nothing else was written before")
}

func TestAPIKeysElsewhere(t *testing.T) {
	t.Parallel()
	a, err := auth.New(auth.Options{HS256: []auth.HS256Key{{Secret: []byte(strings.Repeat("s", 32))}}, Keys: []auth.Key{{Secret: []byte(strings.Repeat("k", 32))}}})
	require.NoError(t, err)
	text, _, _ := authz.NewKeyText()
	_, err = a.Authenticate(t.Context(), text, "")
	require.ErrorIs(t, err, auth.ErrUnauthenticated)
}
