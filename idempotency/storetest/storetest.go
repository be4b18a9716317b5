// Package storetest has the tests that every idempotency.Store must pass. Call [Run] from a test, with a storage of its
// own.
package storetest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
)

// Run tests a store. open returns one without keys.
func Run(t *testing.T, open func(t *testing.T) idempotency.Store) {
	t.Helper()
	for name, test := range map[string]func(t *testing.T, s store){
		"life":                    life,
		"another request":         anotherRequest,
		"expired":                 expired,
		"undone":                  undone,
		"released":                released,
		"response after lease":    responseAfterLease,
		"extended":                extended,
		"large body":              largeBody,
		"fenced undoes the claim": fencedUndoes,
		"at the same time":        atTheSameTime,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, store{t, open(t)})
		})
	}
}

var (
	command = idempotency.Request{User: "u1", Endpoint: "POST /pay", Key: "key-00000001", Hash: idempotency.Hash{1}}
	other   = idempotency.Request{User: "u1", Endpoint: "POST /pay", Key: "key-00000001", Hash: idempotency.Hash{9}}
)

// life is a key's: claimed, taken over, answered.
func life(t *testing.T, s store) {
	rec, ours := s.claim(command, 0)
	require.True(t, ours, "new")
	require.Equal(t, idempotency.Record{Hash: command.Hash, Fence: 1}, rec)

	rec, ours = s.claim(command, time.Hour)
	require.True(t, ours, "its runner's lease is over")
	require.Equal(t, idempotency.Record{Hash: command.Hash, Fence: 2, TakenOver: true}, rec)

	rec, ours = s.claim(command, time.Hour)
	require.False(t, ours, "running")
	require.EqualValues(t, 2, rec.Fence)
	require.Nil(t, rec.Response)

	full := idempotency.Response{Status: 201, Headers: map[string]string{"Location": "/x"}, Body: []byte{0, 1, 255}, Subject: "a1"}
	require.ErrorIs(t, s.respond(command, 1, full, time.Hour), idempotency.ErrFenced)
	require.NoError(t, s.respond(command, 2, full, time.Hour))
	require.ErrorIs(t, s.respond(command, 2, full, time.Hour), idempotency.ErrFenced, "once")

	rec, ours = s.claim(command, 0)
	require.False(t, ours, "has a response")
	require.Equal(t, &full, rec.Response)
	require.EqualValues(t, 2, rec.Fence)
}

func anotherRequest(t *testing.T, s store) {
	s.claim(command, 0)
	rec, ours := s.claim(other, time.Hour)
	require.False(t, ours, "not even when the lease is over")
	require.Equal(t, command.Hash, rec.Hash)
	for _, r := range []idempotency.Request{
		{User: "u2", Endpoint: command.Endpoint, Key: command.Key, Hash: other.Hash},
		{User: command.User, Endpoint: "POST /x", Key: command.Key, Hash: other.Hash},
		{User: command.User, Endpoint: command.Endpoint, Key: "key-00000002", Hash: other.Hash},
	} {
		_, ours = s.claim(r, time.Hour)
		require.True(t, ours, "it is another key")
	}
}

func expired(t *testing.T, s store) {
	running := command
	running.Key = "key-00000009"
	_, _, err := s.claimed(idempotency.Claim{Request: running, Lease: time.Hour})
	require.NoError(t, err)
	rec, ours := s.claim(running, time.Hour)
	require.True(t, ours, "whatever its lease")
	require.False(t, rec.TakenOver, "it begins anew")

	s.claim(command, time.Hour)
	require.NoError(t, s.respond(command, 1, idempotency.Response{Status: 201, Headers: map[string]string{"A": "b"}, Body: []byte("x"), Subject: "a1"}, 0))
	rec, ours = s.claim(other, time.Hour)
	require.True(t, ours)
	require.Equal(t, idempotency.Record{Hash: other.Hash, Fence: 2}, rec, "the fence rises for ever")
	require.ErrorIs(t, s.respond(command, 1, idempotency.Response{Status: 201}, time.Hour), idempotency.ErrFenced)
	require.NoError(t, s.respond(other, 2, idempotency.Response{Status: 204}, time.Hour))
	rec, _ = s.claim(other, time.Hour)
	require.Equal(t, 204, rec.Response.Status)
	require.Empty(t, rec.Response.Headers, "nothing is left of the old response")
	require.Empty(t, rec.Response.Body)
	require.Empty(t, rec.Response.Subject)
}

func undone(t *testing.T, s store) {
	broken := errors.New("broken")
	require.ErrorIs(t, s.InKeyTx(t.Context(), func(ctx context.Context, tx idempotency.Tx) error {
		_, _, err := tx.KeyClaim(ctx, idempotency.Claim{Request: command, Lease: time.Hour, Keep: time.Hour})
		return errors.Join(broken, err)
	}), broken)
	rec, ours := s.claim(other, time.Hour)
	require.True(t, ours, "it was never used")
	require.EqualValues(t, 1, rec.Fence)
}

// released keys are any request's; only the runner that holds one releases it.
func released(t *testing.T, s store) {
	s.claim(command, time.Hour)
	require.ErrorIs(t, s.KeyRelease(t.Context(), command, 2), idempotency.ErrFenced)
	require.NoError(t, s.KeyRelease(t.Context(), command, 1))
	rec, ours := s.claim(other, time.Hour)
	require.True(t, ours)
	require.EqualValues(t, 2, rec.Fence, "the first runner may wake")
	require.ErrorIs(t, s.respond(command, 1, idempotency.Response{Status: 201}, time.Hour), idempotency.ErrFenced)
}

func responseAfterLease(t *testing.T, s store) {
	s.claim(command, 0)
	require.NoError(t, s.respond(command, 1, idempotency.Response{Status: 201, Subject: "a1"}, time.Hour), "nobody has taken it over")
	require.ErrorIs(t, s.KeyRelease(t.Context(), command, 1), idempotency.ErrFenced)
	require.ErrorIs(t, s.KeyExtend(t.Context(), command, 1, time.Hour), idempotency.ErrFenced)
	rec, ours := s.claim(command, 0)
	require.False(t, ours)
	require.Equal(t, "a1", rec.Response.Subject)
}

func extended(t *testing.T, s store) {
	s.claim(command, 0)
	require.NoError(t, s.KeyExtend(t.Context(), command, 1, time.Hour))
	_, ours := s.claim(command, time.Hour)
	require.False(t, ours)
}

func largeBody(t *testing.T, s store) {
	for body, kept := range map[int]bool{idempotency.MaxBody: true, idempotency.MaxBody + 1: false} {
		r := command
		r.Key = idempotency.Key(strings.Repeat("k", 8+body%2))
		s.claim(r, time.Hour)
		require.NoError(t, s.respond(r, 1, idempotency.Response{Status: 200, Body: make([]byte, body), Subject: "a1"}, time.Hour))
		rec, _ := s.claim(r, time.Hour)
		require.Equal(t, kept, len(rec.Response.Body) == body)
		require.Equal(t, "a1", rec.Response.Subject)
	}
}

// fencedUndoes checks that a transaction is undone wholly if its response is refused.
func fencedUndoes(t *testing.T, s store) {
	s.claim(command, time.Hour)
	fresh := command
	fresh.Key = "key-00000002"
	require.ErrorIs(t, s.InKeyTx(t.Context(), func(ctx context.Context, tx idempotency.Tx) error {
		if _, _, err := tx.KeyClaim(ctx, idempotency.Claim{Request: fresh, Lease: time.Hour, Keep: time.Hour}); err != nil {
			return err
		}
		return tx.KeyRespond(ctx, command, 2, idempotency.Response{Status: 201}, time.Hour)
	}), idempotency.ErrFenced)
	rec, ours := s.claim(fresh, time.Hour)
	require.True(t, ours)
	require.EqualValues(t, 1, rec.Fence)
}

func atTheSameTime(t *testing.T, s store) {
	var ours atomic.Int32
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			_, claimed, err := s.claimed(idempotency.Claim{Request: command, Lease: time.Hour, Keep: time.Hour})
			if err != nil && !errors.Is(err, idempotency.ErrInProgress) {
				t.Error(err)
			}
			if claimed {
				ours.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, ours.Load())
}

// store is the store that is tested.
type store struct {
	t *testing.T
	idempotency.Store
}

func (s store) claimed(c idempotency.Claim) (rec idempotency.Record, ours bool, err error) {
	err = s.InKeyTx(s.t.Context(), func(ctx context.Context, tx idempotency.Tx) error {
		var err error
		rec, ours, err = tx.KeyClaim(ctx, c)
		return err
	})
	return rec, ours, err
}

func (s store) claim(r idempotency.Request, lease time.Duration) (rec idempotency.Record, ours bool) {
	s.t.Helper()
	rec, ours, err := s.claimed(idempotency.Claim{Request: r, Lease: lease, Keep: time.Hour})
	require.NoError(s.t, err)
	return rec, ours
}

func (s store) respond(r idempotency.Request, fence int64, response idempotency.Response, keep time.Duration) error {
	return s.InKeyTx(s.t.Context(), func(ctx context.Context, tx idempotency.Tx) error {
		return tx.KeyRespond(ctx, r, fence, response, keep)
	})
}
