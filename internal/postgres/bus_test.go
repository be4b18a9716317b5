package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/stream"
	"github.com/paylatch/paylatch/internal/postgres"
)

// listen makes a store listen until the test ends. It returns the announcements, and the error of the end.
func listen(t *testing.T, store *postgres.Store) (heard chan string, ended chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	heard, ended = make(chan string, 100), make(chan error, 1)
	ready := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		ended <- store.Bus().Listen(ctx, func() { close(ready) }, func(notice string) { heard <- notice })
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	take(t, ready)
	return heard, ended
}

func take[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	limit := time.NewTimer(soon)
	defer limit.Stop()
	select {
	case v := <-from:
		return v
	case <-limit.C:
		require.Fail(t, "waited in vain")
		panic("unreachable")
	}
}

func TestEveryProcessHearsEveryNotice(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	here, there := enginetest.Store(t, url), enginetest.Store(t, url)
	first, _ := listen(t, here)
	second, _ := listen(t, there)
	require.NoError(t, here.Bus().Announce(t.Context(), []string{"one", "two"}))
	require.NoError(t, there.Bus().Announce(t.Context(), []string{"three"}))
	for _, heard := range []chan string{first, second} {
		for _, want := range []string{"one", "two", "three"} {
			require.Equal(t, want, take(t, heard))
		}
	}
	conn := testdb.Connect(t, url)
	require.Equal(t, 2, testdb.One[int](t, conn, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'paylatch listen'`),
		"one connection a process")
}

func TestListeningTellsWhyItEnded(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	_, ended := listen(t, enginetest.Store(t, url))
	conn := testdb.Connect(t, url)
	require.True(t, testdb.One[bool](t, conn, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'paylatch listen'`))
	require.Error(t, take(t, ended))

	ctx, cancel := context.WithCancel(t.Context())
	err := enginetest.Store(t, url).Bus().Listen(ctx, cancel, nil)
	require.ErrorIs(t, err, context.Canceled)
	err = enginetest.Store(t, "postgres://127.0.0.1:1/x").Bus().Listen(t.Context(), func() { t.Error("nobody is there") }, nil)
	require.Error(t, err)
}

// TestChangesAreToldAfterTheirCommit, and only then, and only if the version has
// moved.
func TestChangesAreToldAfterTheirCommit(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store := enginetest.Store(t, url)
	var told [][]stream.ID
	store.OnChange(func(ids []stream.ID) {
		version := testdb.One[int](t, testdb.Connect(t, url), `SELECT version FROM payment_attempts WHERE attempt_id = $1`, uuid.UUID(ids[0]))
		require.Equal(t, 2, version, "others can see it")
		told = append(told, ids)
	})
	a, b := placed(t, store, "o1"), placed(t, store, "o2")
	require.Empty(t, told, "nobody waits for what is new")
	rise := func(ctx context.Context, tx postgres.Tx, id payment.AttemptID, by int) error {
		locked, _, err := tx.AttemptLock(ctx, id)
		if err != nil {
			return err
		}
		was := locked.Version
		locked.Version, locked.State = was+by, fsm.Processing
		return save(ctx, tx, changeset.AttemptWrite{Attempt: locked, Was: was, Changed: true})
	}
	undone := errors.New("undone")
	require.ErrorIs(t, store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
		return errors.Join(rise(ctx, tx, a.ID, 1), undone)
	}), undone)
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error { return rise(ctx, tx, a.ID, 0) })
	require.Empty(t, told)
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		return errors.Join(rise(ctx, tx, a.ID, 1), rise(ctx, tx, b.ID, 1))
	})
	require.Equal(t, [][]stream.ID{{stream.ID(a.ID), stream.ID(b.ID)}}, told)
}

func TestWhatHasMoved(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	a, b, c := placed(t, store, "o1"), placed(t, store, "o2"), placed(t, store, "o3")
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		locked, _, err := tx.AttemptLock(ctx, b.ID)
		if err != nil {
			return err
		}
		locked.Version, locked.State = 2, fsm.Processing
		return save(ctx, tx, changeset.AttemptWrite{Attempt: locked, Was: 1, Changed: true})
	})
	moved, err := store.Bus().Moved(t.Context(), []stream.ID{stream.ID(a.ID), stream.ID(b.ID), stream.ID(c.ID), {}}, []int32{1, 1, 2, 1})
	require.NoError(t, err)
	require.Equal(t, []stream.ID{stream.ID(b.ID)}, moved)

	attempts, err := store.AttemptsByID(t.Context(), []payment.AttemptID{b.ID, c.ID, {}})
	require.NoError(t, err)
	require.Len(t, attempts, 2, "what is not there is left out")
	for _, got := range attempts {
		want, err := store.Attempt(t.Context(), got.ID)
		require.NoError(t, err)
		want.ReadAt, got.ReadAt = time.Time{}, time.Time{}
		require.Equal(t, want, got)
	}
	orders, err := store.Orders(t.Context(), []payment.OrderID{"o1", "o3", "o4"})
	require.NoError(t, err)
	require.Len(t, orders, 2)
	require.Equal(t, a.ID, orders["o1"].Attempts[0].ID)
	orders, err = store.Orders(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, orders)
}
