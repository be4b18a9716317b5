package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/idempotency/storetest"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
)

var command = idempotency.Request{User: "u1", Endpoint: "POST /pay", Key: "key-00000001", Hash: idempotency.Hash{1}}

func TestKeys(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) idempotency.Store {
		t.Helper()
		return enginetest.Store(t, testdb.New(t))
	})
}

// An expired key is read as unknown.
func TestAnExpiredKeyIsNotRead(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	claim(t, store, command, time.Hour)
	require.NoError(t, answer(t, store, command, 1, idempotency.Response{Status: 201}, 0))
	_, known, err := store.KeyRead(t.Context(), command)
	require.NoError(t, err)
	require.False(t, known)
}

// TestTwoClaimsAtOnce makes the second claim wait for the first and see its result.
func TestTwoClaimsAtOnce(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store, watch := enginetest.Store(t, url), testdb.Connect(t, url)
	wanted := idempotency.Claim{Request: command, Lease: time.Hour, Keep: time.Hour}
	second, done := false, make(chan error, 1)
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		_, ours, err := tx.KeyClaim(ctx, wanted)
		require.True(t, ours)
		go func() {
			done <- store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
				var err error
				_, second, err = tx.KeyClaim(ctx, wanted)
				return err
			})
		}()
		testdb.Waiting(t, watch, 1)
		return err
	})
	require.NoError(t, <-done)
	require.False(t, second)
}

// TestAKeyThatIsGivenBackMeanwhile claims it in a transaction that is older.
func TestAKeyThatIsGivenBackMeanwhile(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	claim(t, store, command, time.Hour)
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		require.False(t, tx.Now().IsZero())
		require.NoError(t, store.KeyRelease(ctx, command, 1))
		_, _, err := idempotency.Take(ctx, tx, idempotency.Claim{Request: command, Lease: time.Hour, Keep: time.Hour})
		require.ErrorIs(t, err, idempotency.ErrInProgress, "it is nobody else's")
		return nil
	})
	_, ours := claim(t, store, command, time.Hour)
	require.True(t, ours)
}

// A response is stored without a claim only where the key is free.
func TestAnAnswerWithoutAClaim(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	of := func(key idempotency.Key) idempotency.Request { r := command; r.Key = key; return r }
	claim(t, store, of("running-1"), time.Hour)
	claim(t, store, of("answered-1"), 0)
	require.NoError(t, answer(t, store, of("answered-1"), 1, idempotency.Response{Status: 201, Subject: "first"}, time.Hour))
	another := of("anothers-1")
	another.Hash = idempotency.Hash{9}
	claim(t, store, another, 0)
	claim(t, store, of("dead-0001"), 0)
	expired(t, store, of("expired-1"))
	for key, free := range map[idempotency.Key]bool{
		"running-1": false, "answered-1": false, "anothers-1": false, "dead-0001": true, "expired-1": true, "new-00001": true,
	} {
		err := store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
			return tx.KeysStore(ctx, []idempotency.Stored{{Request: of(key), Response: idempotency.Response{Status: 201, Subject: "second"}, Keep: time.Hour}})
		})
		rec, ours := claim(t, store, of(key), time.Hour)
		require.False(t, ours, key)
		if free {
			require.NoError(t, err, key)
			require.Equal(t, "second", rec.Response.Subject, key)
			continue
		}
		require.ErrorIs(t, err, payment.ErrUnavailable, "it was tried again, as whoever claimed it may have failed")
		require.True(t, rec.Response == nil || rec.Response.Subject == "first", key)
	}
}

// A write that is refused because another runner has the key by now rolls back its whole transaction.
func TestWhatIsFencedWritesNothing(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	claim(t, store, command, time.Hour)
	err := store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
		if _, err := tx.OrderInsert(ctx, order("o1")); err != nil {
			return err
		}
		return tx.KeyRespond(ctx, command, 2, idempotency.Response{Status: 201}, time.Hour)
	})
	require.ErrorIs(t, err, idempotency.ErrFenced)
	_, err = store.Order(t.Context(), "o1")
	require.ErrorIs(t, err, payment.ErrOrderNotFound)
}

// A user's new keys are counted in their window, each by its place in it. An existing key does not count, and an expired
// key is new.
func TestNewKeysAreCounted(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store, db := enginetest.Store(t, url), testdb.Connect(t, url)
	of := func(user string, key idempotency.Key) idempotency.Request {
		return idempotency.Request{User: user, Endpoint: command.Endpoint, Key: key, Hash: command.Hash}
	}
	claim(t, store, of("u1", "known-001"), time.Hour)
	expired(t, store, of("u1", "expired-1"))
	const per = 240 * time.Hour
	count := func(requests ...idempotency.Request) (nth []int) {
		used, err := store.QuotasTake(t.Context(), requests, per)
		require.NoError(t, err)
		for _, u := range used {
			nth = append(nth, u.Nth)
			require.True(t, u.Nth == 0 || u.Left > 0 && u.Left <= per, u.Left)
		}
		return nth
	}
	require.Equal(t, []int{1, 0, 1, 2, 2}, count(
		of("u1", "new-00001"), of("u1", "known-001"), of("u2", "new-00001"), of("u1", "expired-1"), of("u2", "new-00002")))
	require.Equal(t, []int{3}, count(of("u1", "new-00002")))
	_, err := db.Exec(t.Context(), "UPDATE key_quotas SET window_at = window_at - interval '240 hours'")
	require.NoError(t, err)
	require.Equal(t, []int{1, 2}, count(of("u1", "new-00003"), of("u1", "new-00004")), "in the next window")
}

func claim(t *testing.T, store *postgres.Store, r idempotency.Request, lease time.Duration) (rec idempotency.Record, ours bool) {
	t.Helper()
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		var err error
		rec, ours, err = tx.KeyClaim(ctx, idempotency.Claim{Request: r, Lease: lease, Keep: time.Hour})
		return err
	})
	return rec, ours
}

// expired claims a key that expires at once.
func expired(t *testing.T, store *postgres.Store, r idempotency.Request) {
	t.Helper()
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		_, _, err := tx.KeyClaim(ctx, idempotency.Claim{Request: r, Lease: time.Hour})
		return err
	})
}

func answer(t *testing.T, store *postgres.Store, r idempotency.Request, fence int64, a idempotency.Response, keep time.Duration) error {
	t.Helper()
	return store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error { return tx.KeyRespond(ctx, r, fence, a, keep) })
}
