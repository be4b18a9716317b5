package postgres_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/internal/dev/faults"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
)

// answerWithin is how long a caller may be left without an answer: by the pool it is
// 1.5 s, by a transaction's own limit it would be 10 s.
const answerWithin = 8 * time.Second

// hurried is a store with the limits of a process, which has been reached.
func hurried(t *testing.T, url string) *postgres.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(store.Close)
	require.Eventually(t, func() bool { return store.Ping(t.Context()) == nil && store.Migrated(t.Context()) == nil }, soon, time.Millisecond)
	return store
}

func TestALostServerIsAnAnswerAndComesBack(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, srv *devpg.Server){
		"stopped": func(t *testing.T, srv *devpg.Server) { t.Helper(); require.NoError(t, srv.Stop()) },
		"killed": func(t *testing.T, srv *devpg.Server) {
			t.Helper()
			require.NoError(t, syscall.Kill(srv.Pid(), syscall.SIGKILL))
			<-srv.Done()
			require.Error(t, srv.Stop())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := testdb.Private(t)
			store, process := enginetest.Store(t, srv.DSN("postgres")), hurried(t, srv.DSN("postgres"))
			placed(t, store, "o1")

			err := store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
				require.NoError(t, tx.OrderCancel(ctx, "o1", cancelled("o1")))
				end(t, srv)
				_, err := tx.OrderRead(ctx, "o1")
				return err
			})
			require.ErrorIs(t, err, payment.ErrUnavailable)
			for range 3 {
				unavailable(t, func() error { return read(t, process) })
				unavailable(t, func() error { return write(t, process) })
				unavailable(t, func() error { return process.Ping(t.Context()) })
			}

			again, err := devpg.Start(t.Context(), devpg.Config{Dir: srv.Dir()})
			require.NoError(t, err)
			t.Cleanup(func() { _ = again.Stop() })
			require.Eventually(t, func() bool { return read(t, process) == nil && write(t, process) == nil }, soon, 10*time.Millisecond)
		})
	}
}

func TestAnEndedSessionIsAnAnswer(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store, admin := enginetest.Store(t, url), testdb.Connect(t, url)
	placed(t, store, "o1")
	err := store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
		require.NoError(t, tx.OrderCancel(ctx, "o1", cancelled("o1")))
		require.True(t, testdb.One[bool](t, admin, `SELECT bool_or(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`))
		return nil
	})
	require.ErrorIs(t, err, payment.ErrUnavailable)
	require.Eventually(t, func() bool { return read(t, store) == nil }, soon, time.Millisecond)
	o, err := store.Order(t.Context(), "o1")
	require.NoError(t, err)
	require.Nil(t, o.CancelRequestedAt)
}

// A call that is given up on a dead connection closes that connection, and its place in the pool is free.
func TestAConnectionThatDiesIsNotUsedAgain(t *testing.T) {
	t.Parallel()
	way, url := faults.NewDatabase(t, testdb.New(t))
	store := enginetest.Store(t, testdb.With(t, url, "pool_max_conns", "1"))
	placed(t, store, "o1")
	inTime(t, func() {
		require.NoError(t, read(t, store))
		way.Blackhole()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := store.AttemptsByID(ctx, []payment.AttemptID{{1}})
		require.ErrorIs(t, err, payment.ErrUnavailable)
		require.NoError(t, read(t, store))
	})
}

func TestAnExhaustedPoolIsAnAnswer(t *testing.T) {
	t.Parallel()
	store, held := hurried(t, testdb.With(t, testdb.New(t), "pool_max_conns", "1")), false
	require.Eventually(t, func() bool {
		_ = store.Read(t.Context(), func(context.Context, *pgxpool.Conn) error {
			held = true
			unavailable(t, func() error { return read(t, store) })
			unavailable(t, func() error { return write(t, store) })
			return nil
		})
		return held
	}, soon, time.Millisecond)
}

func TestNoServerAtAllIsAnAnswer(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, "postgres:///paylatch?host="+t.TempDir())
	unavailable(t, func() error { return read(t, store) })
	unavailable(t, func() error { return write(t, store) })
}

// A server that has become a standby takes nothing: another one does.
func TestAServerThatOnlyReadsIsAnAnswer(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.With(t, testdb.New(t), "default_transaction_read_only", "on"))
	require.ErrorIs(t, read(t, store), payment.ErrOrderNotFound)
	unavailable(t, func() error { return write(t, store) })
}

// The tables of an upgrade may belong to another role. That is not the fault of the written data.
func TestTablesOfAnotherRoleAreAnAnswer(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.With(t, testdb.New(t), "role", "pg_read_all_data"))
	require.ErrorIs(t, read(t, store), payment.ErrOrderNotFound)
	unavailable(t, func() error { return write(t, store) })
}

// A disk that does not write is not the fault of the written data, either.
func TestADiskThatFailsIsAnAnswer(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store := enginetest.Store(t, url)
	placed(t, store, "o1")
	_, err := testdb.Connect(t, url).Exec(t.Context(), `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE 'could not write block' USING ERRCODE = 'io_error'; END $$;
		CREATE TRIGGER disk BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION fail()`)
	require.NoError(t, err)
	unavailable(t, func() error {
		return store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error { return tx.OrderCancel(ctx, "o1", cancelled("o1")) })
	})
}

func TestAnAddressThatIsNone(t *testing.T) {
	t.Parallel()
	_, err := postgres.Open(t.Context(), "postgres://%")
	require.ErrorContains(t, err, "address")
}

func read(t *testing.T, store *postgres.Store) error {
	t.Helper()
	_, err := store.Order(t.Context(), "o1")
	return err
}

func write(t *testing.T, store *postgres.Store) error {
	t.Helper()
	return store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
		_, err := tx.OrderLock(ctx, "o1")
		return err
	})
}

func unavailable(t *testing.T, do func() error) {
	t.Helper()
	inTime(t, func() { require.ErrorIs(t, do(), payment.ErrUnavailable) })
}

// inTime requires that something takes no longer than answerWithin. A busy machine has several tries: a limit that is too long is too long
// each time.
func inTime(t *testing.T, do func()) {
	t.Helper()
	var took time.Duration
	for range 10 {
		begun := time.Now()
		do()
		if took = time.Since(begun); took < answerWithin {
			return
		}
	}
	require.Less(t, took, answerWithin)
}
