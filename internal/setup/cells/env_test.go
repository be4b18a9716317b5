package cells_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/bulk"
	"github.com/paylatch/paylatch/internal/backoffice/overview"
	"github.com/paylatch/paylatch/internal/backoffice/parts"
	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/console"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/setup/cells"
)

// one is a cell on a database of its own.
type one struct {
	cells.Desk

	db *pgxpool.Pool
}

// outside are the endpoints and the accounts of a cell, which are of the configuration.
type outside struct {
	*endpoint.Service
	console.Payments

	cell string
	err  error
	// sent are the events that the endpoint shop was sent, with how often they were sent again.
	sent map[uuid.UUID]int
}

func (o outside) RedeliverEvents(_ context.Context, name string, list []uuid.UUID) error {
	if name != "shop" {
		return endpoint.ErrNotFound
	}
	if o.err != nil {
		return o.err
	}
	var unknown []uuid.UUID
	for _, id := range list {
		if _, was := o.sent[id]; !was {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) > 0 {
		return &endpoint.UnknownError{IDs: unknown}
	}
	for _, id := range list {
		o.sent[id]++
	}
	return nil
}

func (o outside) List(context.Context) ([]endpoint.Status, error) {
	return []endpoint.Status{{Name: "shop", Behind: 2, Dead: 3}, {Name: "a-" + o.cell}}, o.err
}

func (o outside) Stale(context.Context) ([]intake.StaleAccount, error) {
	return []intake.StaleAccount{{Account: "of-" + o.cell}}, o.err
}

func (o outside) ForeignLastDay(context.Context) (map[string]int64, error) {
	return map[string]int64{"of-" + o.cell: 1, "both": 2}, o.err
}

func newCell(t *testing.T, n payment.Cell, dsn string, away error) cells.Desk {
	t.Helper()
	store, err := postgres.Open(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(store.Close)
	desk := support.New(support.Options{Store: store.Support()})
	other := outside{cell: strconv.Itoa(int(n)), err: away, sent: map[uuid.UUID]int{}}
	return cells.Desk{Number: n, BackOffice: cells.BackOffice{
		Support: desk, Worklist: worklist.New(worklist.Options{Store: store.Worklist(), Audit: desk, Now: time.Now}), Jobs: bulk.New(n, store.Jobs(), desk),
		Requests: refundrequest.New(store.Requests(), nil, desk), Endpoints: other, Payments: other,
		Overview: overview.New(overview.Options{
			Store: store.Overview(), Audit: desk, Accounts: other, Endpoints: other, Held: func() []string { return nil },
			Breakers: func() map[string]float64 { return nil }, Now: time.Now,
		}),
	}}
}

func open(t *testing.T, n payment.Cell) *one {
	t.Helper()
	dsn := testdb.New(t)
	db, err := pgxpool.New(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return &one{newCell(t, n, dsn, nil), db}
}

// gone is the same cell while its server does not respond.
func gone(t *testing.T, n payment.Cell) cells.Desk {
	t.Helper()
	return newCell(t, n, "postgres://nobody@127.0.0.1:1/gone", fmt.Errorf("%w: refused", payment.ErrUnavailable))
}

func (o *one) run(t *testing.T, statement string, args ...any) {
	t.Helper()
	_, err := o.db.Exec(t.Context(), statement, args...)
	require.NoError(t, err)
}

// opened is a discrepancy of a second of a minute.
func (o *one) opened(t *testing.T, second int) string {
	t.Helper()
	id := o.Number.NewID()
	o.run(t, `INSERT INTO discrepancies (discrepancy_id, kind, about, about_id, account, text, opened_at)
		VALUES ($1, 'needs_review', '', '', $2, 'Look at this.', timestamptz '2026-03-01 09:30:00Z' + $3 * interval '1 second')`, id, id.String(), second)
	return id.String()
}

// asked makes a refund request for an attempt of its own.
func (o *one) asked(t *testing.T) string {
	t.Helper()
	attempt, id := o.Number.NewID(), o.Number.NewID()
	o.run(t, `INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
		VALUES ($1, 'u1', $1, '\x01', 1000, 'EUR', now(), now())`, attempt.String())
	o.run(t, `INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency, created_at, updated_at, finalized_at)
		VALUES ($1::uuid::text, $1, 'u1', $1::uuid::text, '\x01', 'acc', 'failed', 'final', 1000, 'EUR', '2026-03-01', '2026-03-02', '2026-03-02')`, attempt)
	o.run(t, `INSERT INTO refund_requests (refund_request_id, order_id, attempt_id, amount, currency, reason, requested_by, created_at)
		VALUES ($1, $2::uuid::text, $2, 5, 'EUR', 'case 4711', 'sam', now())`, id, attempt)
	return id.String()
}

// acts is the audit log as actions, oldest first.
func (o *one) acts(t *testing.T) (actions []string) {
	t.Helper()
	require.NoError(t, o.db.QueryRow(t.Context(), "SELECT coalesce(array_agg(action || ' ' || outcome ORDER BY position), '{}') FROM staff_audit").Scan(&actions))
	return actions
}

func staff(name string, role payment.Role) support.Staff {
	return support.Staff{Actor: authz.Actor{Subject: name, Roles: []payment.Role{role}}, Address: "192.0.2.7", RequestID: "req-1"}
}

func ada() support.Staff { return staff("ada", payment.RoleAdmin) }

func page(t *testing.T, cursor, limit string) support.Page {
	t.Helper()
	p, err := support.ParsePage(cursor, limit)
	require.NoError(t, err)
	return p
}

// without is which cells an error of a read leaves out.
func without(t *testing.T, err error) string {
	t.Helper()
	var left *parts.OmittedError
	require.ErrorAs(t, err, &left)
	require.ErrorIs(t, err, payment.ErrUnavailable)
	return left.Without()
}

func ids[T any](list []T, id func(T) uuid.UUID) (texts []string) {
	for _, item := range list {
		texts = append(texts, id(item).String())
	}
	return texts
}
