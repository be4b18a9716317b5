package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/testdb"
)

var command = idempotency.Request{User: "u1", Endpoint: "POST /pay", Key: "key-00000001", Hash: idempotency.Hash{1}}

func TestAKeysLife(t *testing.T) {
	t.Parallel()
	store := open(t, testdb.New(t))
	rec, ours := claim(t, store, command, 0)
	require.True(t, ours, "new")
	require.Equal(t, idempotency.Record{Hash: command.Hash, Fence: 1}, rec)

	rec, ours = claim(t, store, command, time.Hour)
	require.True(t, ours, "its runner's lease is over")
	require.Equal(t, idempotency.Record{Hash: command.Hash, Fence: 2, TakenOver: true}, rec)

	rec, ours = claim(t, store, command, time.Hour)
	require.False(t, ours, "running")
	require.EqualValues(t, 2, rec.Fence)
	require.Nil(t, rec.Answer)

	full := idempotency.Answer{Status: 201, Headers: map[string]string{"Location": "/x"}, Body: []byte{0, 1, 255}, Subject: "a1"}
	require.ErrorIs(t, answer(t, store, command, 1, full, time.Hour), idempotency.ErrFenced)
	require.NoError(t, answer(t, store, command, 2, full, time.Hour))
	require.ErrorIs(t, answer(t, store, command, 2, full, time.Hour), idempotency.ErrFenced, "answered once")

	rec, ours = claim(t, store, command, 0)
	require.False(t, ours, "answered")
	require.Equal(t, &full, rec.Answer)
	require.EqualValues(t, 2, rec.Fence)
}

func TestAnotherRequestWithTheKey(t *testing.T) {
	t.Parallel()
	store := open(t, testdb.New(t))
	other := command
	other.Hash = idempotency.Hash{9}
	claim(t, store, command, 0)

	rec, ours := claim(t, store, other, time.Hour)
	require.False(t, ours, "not even when the lease is over")
	require.Equal(t, command.Hash, rec.Hash)
	for _, r := range []idempotency.Request{
		{User: "u2", Endpoint: command.Endpoint, Key: command.Key, Hash: other.Hash},
		{User: command.User, Endpoint: "POST /x", Key: command.Key, Hash: other.Hash},
		{User: command.User, Endpoint: command.Endpoint, Key: "key-00000002", Hash: other.Hash},
	} {
		_, ours = claim(t, store, r, time.Hour)
		require.True(t, ours, "it is another key")
	}
}

func TestAnExpiredKeyIsNew(t *testing.T) {
	t.Parallel()
	store := open(t, testdb.New(t))
	running := command
	running.Key = "key-00000009"
	expired(t, store, running)
	_, ours := claim(t, store, running, time.Hour)
	require.True(t, ours, "whatever its lease")

	claim(t, store, command, time.Hour)
	require.NoError(t, answer(t, store, command, 1, idempotency.Answer{Status: 201, Subject: "a1"}, 0))

	other := command
	other.Hash = idempotency.Hash{9}
	rec, ours := claim(t, store, other, time.Hour)
	require.True(t, ours)
	require.Equal(t, idempotency.Record{Hash: other.Hash, Fence: 2}, rec, "the fence rises for ever")
	require.ErrorIs(t, answer(t, store, command, 1, idempotency.Answer{Status: 201}, time.Hour), idempotency.ErrFenced)
	require.NoError(t, answer(t, store, other, 2, idempotency.Answer{Status: 204}, time.Hour))
	rec, _ = claim(t, store, other, time.Hour)
	require.Equal(t, &idempotency.Answer{Status: 204, Headers: map[string]string{}}, rec.Answer, "nothing is left of the old answer")
}

func TestAClaimThatIsUndoneIsNone(t *testing.T) {
	t.Parallel()
	store := open(t, testdb.New(t))
	require.ErrorIs(t, store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
		_, _, err := tx.KeyClaim(ctx, idempotency.Claim{Request: command, Lease: time.Hour, Keep: time.Hour})
		require.NoError(t, err)
		return payment.ErrBusy
	}), payment.ErrBusy)
	rec, ours := claim(t, store, command, time.Hour)
	require.True(t, ours)
	require.EqualValues(t, 1, rec.Fence)
}

// TestTwoClaimsAtOnce lets the second wait for the first and see what it did.
func TestTwoClaimsAtOnce(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store, watch := open(t, url), testdb.Connect(t, url)
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

// TestAKeyThatIsGivenBackMeanwhile asks for it in a transaction that is older.
func TestAKeyThatIsGivenBackMeanwhile(t *testing.T) {
	t.Parallel()
	store := open(t, testdb.New(t))
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

func TestALargeBodyIsNotKept(t *testing.T) {
	t.Parallel()
	store := open(t, testdb.New(t))
	for body, kept := range map[int]bool{idempotency.MaxBody: true, idempotency.MaxBody + 1: false} {
		r := command
		r.Key = idempotency.Key(strings.Repeat("k", 8+body%2))
		claim(t, store, r, time.Hour)
		require.NoError(t, answer(t, store, r, 1, idempotency.Answer{Status: 200, Body: make([]byte, body), Subject: "a1"}, time.Hour))
		rec, _ := claim(t, store, r, time.Hour)
		require.Equal(t, kept, len(rec.Answer.Body) == body)
		require.Equal(t, "a1", rec.Answer.Subject)
	}
}

// What was answered stays so however long ago its runner's lease was over, and only
// who holds a key gives it back; then any request may have it.
func TestAnAnswerOutlivesItsLease(t *testing.T) {
	t.Parallel()
	store := open(t, testdb.New(t))
	other, released := command, command
	other.Hash, released.Key = idempotency.Hash{9}, "key-00000002"
	claim(t, store, command, 0)
	claim(t, store, released, time.Hour)
	require.ErrorIs(t, store.KeyRelease(t.Context(), released, 2), idempotency.ErrFenced)
	require.NoError(t, store.KeyRelease(t.Context(), released, 1))
	anothers := released
	anothers.Hash = other.Hash
	_, ours := claim(t, store, anothers, time.Hour)
	require.True(t, ours)

	require.NoError(t, answer(t, store, command, 1, idempotency.Answer{Status: 201, Subject: "a1"}, time.Hour))
	require.ErrorIs(t, store.KeyRelease(t.Context(), command, 1), idempotency.ErrFenced)
	rec, ours := claim(t, store, command, 0)
	require.False(t, ours)
	require.Equal(t, "a1", rec.Answer.Subject)
	require.NoError(t, answer(t, store, anothers, 2, idempotency.Answer{Status: 201}, 0))
	_, known, err := store.KeyRead(t.Context(), anothers)
	require.NoError(t, err)
	require.False(t, known, "it has expired")
}

// An answer is stored without a claim only where nobody can have the key.
func TestAnAnswerWithoutAClaim(t *testing.T) {
	t.Parallel()
	store := open(t, testdb.New(t))
	of := func(key idempotency.Key) idempotency.Request { r := command; r.Key = key; return r }
	claim(t, store, of("running-1"), time.Hour)
	claim(t, store, of("answered-1"), 0)
	require.NoError(t, answer(t, store, of("answered-1"), 1, idempotency.Answer{Status: 201, Subject: "first"}, time.Hour))
	another := of("anothers-1")
	another.Hash = idempotency.Hash{9}
	claim(t, store, another, 0)
	claim(t, store, of("dead-0001"), 0)
	expired(t, store, of("expired-1"))
	for key, free := range map[idempotency.Key]bool{
		"running-1": false, "answered-1": false, "anothers-1": false, "dead-0001": true, "expired-1": true, "new-00001": true,
	} {
		err := store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
			return tx.KeysStore(ctx, []idempotency.Stored{{Request: of(key), Answer: idempotency.Answer{Status: 201, Subject: "second"}, Keep: time.Hour}})
		})
		rec, ours := claim(t, store, of(key), time.Hour)
		require.False(t, ours, key)
		if free {
			require.NoError(t, err, key)
			require.Equal(t, "second", rec.Answer.Subject, key)
			continue
		}
		require.ErrorIs(t, err, payment.ErrUnavailable, "it was tried again, as whoever claimed it may have failed")
		require.True(t, rec.Answer == nil || rec.Answer.Subject == "first", key)
	}
}

// What is refused since another runner has the key by now undoes all of its transaction.
func TestWhatIsFencedWritesNothing(t *testing.T) {
	t.Parallel()
	store := open(t, testdb.New(t))
	claim(t, store, command, time.Hour)
	err := store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
		if _, err := tx.OrderInsert(ctx, order("o1")); err != nil {
			return err
		}
		return tx.KeyAnswer(ctx, command, 2, idempotency.Answer{Status: 201}, time.Hour)
	})
	require.ErrorIs(t, err, idempotency.ErrFenced)
	_, err = store.Order(t.Context(), "o1")
	require.ErrorIs(t, err, payment.ErrOrderNotFound)
}

// A user's new keys are counted in their window, each by its place in it; what is known
// does not count, and what has expired is new.
func TestNewKeysAreCounted(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store, db := open(t, url), testdb.Connect(t, url)
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

// expired claims a key that is not known any longer at once.
func expired(t *testing.T, store *postgres.Store, r idempotency.Request) {
	t.Helper()
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		_, _, err := tx.KeyClaim(ctx, idempotency.Claim{Request: r, Lease: time.Hour})
		return err
	})
}

func answer(t *testing.T, store *postgres.Store, r idempotency.Request, fence int64, a idempotency.Answer, keep time.Duration) error {
	t.Helper()
	return store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error { return tx.KeyAnswer(ctx, r, fence, a, keep) })
}
