package overview_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/overview"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// now is in the middle of an hour.
var now = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)

// env is the use cases on a real database, at a time that a test moves.
type env struct {
	*overview.Service

	store *slowStore
	db    *pgxpool.Pool
	clock atomic.Pointer[time.Time]

	mu    sync.Mutex
	added map[string]int64

	stale     []intake.StaleAccount
	endpoints []endpoint.Status
	held      []string
	breakers  map[string]float64
	batch     int
}

// slowStore counts the reads of the hours.
type slowStore struct {
	overview.Store

	reads atomic.Int64
}

func (s *slowStore) Series(ctx context.Context, since time.Time) ([]overview.Outcome, error) {
	s.reads.Add(1)
	return s.Store.Series(ctx, since)
}

func (e *env) Stale(context.Context) ([]intake.StaleAccount, error) { return e.stale, nil }
func (e *env) List(context.Context) ([]endpoint.Status, error)      { return e.endpoints, nil }
func (e *env) Added(subject, account, status, code string, n int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.added[fmt.Sprintf("%s %s %s %s", subject, account, status, code)] += n
}

func newEnv(t *testing.T) *env {
	t.Helper()
	dsn := testdb.New(t)
	store, db := enginetest.Open(t, dsn)
	e := &env{store: &slowStore{Store: store.Overview()}, db: db, added: map[string]int64{}}
	e.clock.Store(&now)
	e.Service = overview.New(overview.Options{
		Store: e.store, Audit: support.New(support.Options{Store: store.Support()}), Accounts: e, Endpoints: e, Added: e.Added,
		Held: func() []string { return e.held }, Breakers: func() map[string]float64 { return e.breakers },
		Now: func() time.Time { return *e.clock.Load() },
	})
	return e
}

func (e *env) later(d time.Duration) {
	at := e.clock.Load().Add(d)
	e.clock.Store(&at)
}

func staff(name string, role payment.Role) support.Staff {
	return support.Staff{Actor: authz.Actor{Subject: name, Roles: []payment.Role{role}}, Address: "192.0.2.7"}
}

func (e *env) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := e.db.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// publish writes events as one batch, with positions.
func (e *env) publish(t *testing.T, events ...outbox.Message) {
	t.Helper()
	e.batch++
	e.exec(t, `WITH h AS (UPDATE outbox_head SET last = last + $2 RETURNING last)
		INSERT INTO outbox_batches (batch, events, last, created_at) SELECT $1, $2, h.last, now() FROM h`, e.batch, len(events))
	for i, m := range events {
		e.exec(t, `INSERT INTO outbox (order_id, message_id, batch, nth, subject, type, version, payload, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			string(m.OrderID), m.ID, e.batch, i+1, m.Subject, m.Type, m.Version, string(m.Payload), m.At)
	}
}

// ended are the events of an attempt that ended; without a code it succeeded.
func ended(account, currency, code string, minor int64, at time.Time) []outbox.Message {
	a := payment.Attempt{
		ID: payment.AttemptID(uuid.Must(uuid.NewV7())), OrderID: payment.OrderID(uuid.NewString()), UserID: "u1", Account: account,
		Money: payment.Money{Minor: minor, Currency: payment.Currency(currency)}, CreatedAt: at, UpdatedAt: at,
	}
	step := payment.Transition{Version: 2, From: fsm.Requested, To: fsm.Succeeded, At: at, Cause: payment.Cause{Kind: payment.CauseWebhook}}
	step.Facts.Captured = minor - 100
	if code != "" {
		step.To, a.Failure = fsm.Failed, payment.NewFailure(webhooks.FailureCode(code), "")
	}
	return outbox.Attempt(&a, nil, []payment.Transition{step}, a.Succeeded())
}

func refunded(currency string, minor int64, failed bool, at time.Time) outbox.Message {
	r := payment.Refund{
		ID: payment.RefundID(uuid.Must(uuid.NewV7())), OrderID: payment.OrderID(uuid.NewString()), State: fsm.RefundSucceeded,
		Money: payment.Money{Minor: minor, Currency: payment.Currency(currency)}, Version: 2, FinalizedAt: &at,
	}
	if failed {
		r.State, r.Failure = fsm.RefundFailed, payment.NewFailure("provider_rejected", "")
	}
	return outbox.Refund(&r, payment.Attempt{})
}

func opened(kind payment.DiscrepancyKind, at time.Time) outbox.Message {
	return outbox.Discrepancy(payment.Discrepancy{ID: payment.DiscrepancyID(uuid.Must(uuid.NewV7())), Kind: kind, At: at})
}

// count counts all published events.
func (e *env) count(t *testing.T) {
	t.Helper()
	for more := true; more; {
		var err error
		more, err = e.Count(t.Context())
		require.NoError(t, err)
	}
}

// operation stores an attempt with an operation that was sent some time ago.
func (e *env) operation(t *testing.T, account, kind, state string, ago time.Duration) {
	t.Helper()
	id, order := uuid.Must(uuid.NewV7()), uuid.NewString()
	var refund *uuid.UUID
	if kind == "refund" {
		refund = &id
	}
	tx, err := e.db.Begin(t.Context())
	require.NoError(t, err)
	for _, one := range []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
			VALUES ($1, 'u1', $1, '\x01', 1000, 'EUR', now(), now())`, []any{order}},
		{`INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency, created_at, updated_at)
			VALUES ($1::text, $2, 'u1', $1, '\x01', $3, 'pending', 'requested', 1000, 'EUR', now(), now())`, []any{order, id, account}},
		{`INSERT INTO operations (order_id, attempt_id, kind, number, account, refund_id, origin, state, sends, fence, next_at, first_sent_at, created_at)
			VALUES ($1, $2, $3, 0, $4, $5, 'request', $6, 1, 1, now(), now() - $7::interval, now() - $7::interval)`, []any{order, id, kind, account, refund, state, ago}},
		{`INSERT INTO operations (order_id, attempt_id, kind, number, account, origin, state, next_at, created_at)
			SELECT $1, $2, 'check', 0, $3, 'request', 'wanted', now(), now() WHERE $4::text <> 'check'`, []any{order, id, account, kind}},
	} {
		_, err := tx.Exec(t.Context(), one.sql, one.args...)
		require.NoError(t, err)
	}
	require.NoError(t, tx.Commit(t.Context()))
}
