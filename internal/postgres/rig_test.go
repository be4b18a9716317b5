package postgres_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
)

// soon is how long a test waits for what must happen.
const soon = 20 * time.Second

func open(t *testing.T, url string) *postgres.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(store.Close)
	return store
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// with adds settings of the session to a database's URL, in pairs.
func with(t *testing.T, dsn string, settings ...string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	q := u.Query()
	for i := 0; i < len(settings); i += 2 {
		q.Set(settings[i], settings[i+1])
	}
	u.RawQuery = q.Encode()
	return u.String()
}

func one[T any](t *testing.T, conn *pgx.Conn, query string, args ...any) T {
	t.Helper()
	var v T
	require.NoError(t, conn.QueryRow(t.Context(), query, args...).Scan(&v))
	return v
}

// waiting returns once n sessions of the database wait for a lock.
func waiting(t *testing.T, conn *pgx.Conn, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		return one[int](t, conn, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) >= n
	}, soon, time.Millisecond)
}

func inTx(t *testing.T, store *postgres.Store, fn func(ctx context.Context, tx payment.Tx) error) {
	t.Helper()
	require.NoError(t, store.InTx(t.Context(), fn))
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 123456000, time.UTC)

func order(id payment.OrderID) payment.Order {
	return payment.Order{
		ID: id, UserID: "u1", CreatedBy: payment.RoleService, RequestID: "request-" + payment.RequestID(id), RequestHash: idempotency.Hash{1},
		Money: payment.Money{Minor: 1000, Currency: "EUR"}, Metadata: map[string]string{}, CreatedAt: noon, UpdatedAt: noon,
	}
}

func attempt(id payment.OrderID) payment.Attempt {
	next := noon.Add(time.Minute)
	return payment.Attempt{
		ID: payment.AttemptID(uuid.Must(uuid.NewV7())), OrderID: id, UserID: "u1", RequestID: "pay-00000001", RequestHash: idempotency.Hash{2},
		Account: "acc", State: fsm.Requested, Money: payment.Money{Minor: 1000, Currency: "EUR"}, Capture: payment.CaptureAutomatic,
		Version: 1, Fence: 1, NextCheckAt: &next, CreatedAt: noon, UpdatedAt: noon,
	}
}

// placed puts an order with one pending attempt on disk.
func placed(t *testing.T, store *postgres.Store, id payment.OrderID) payment.Attempt {
	t.Helper()
	a := attempt(id)
	inTx(t, store, func(ctx context.Context, tx payment.Tx) error {
		if _, err := tx.OrderInsert(ctx, order(id)); err != nil {
			return err
		}
		return tx.AttemptsInsert(ctx, []payment.Attempt{a})
	})
	return a
}
