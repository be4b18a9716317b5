package worklist_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/engine"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/internal/postgres"
)

// env is the worklist on a real database.
type env struct {
	*worklist.Service

	desk    *support.Service
	settler *worklist.Settler
	store   *postgres.Store
	db      *pgxpool.Pool
}

var (
	sam = staff("sam", payment.RoleSupport)
	pat = staff("pat", payment.RoleSupport)
	ada = staff("ada", payment.RoleAdmin)
)

const reason = "the customer called, case 4711"

func staff(name string, role payment.Role) support.Staff {
	return support.Staff{Actor: authz.Actor{Subject: name, Roles: []payment.Role{role}}, Address: "192.0.2.7", RequestID: "req-1"}
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := enginetest.New(t, engine.Options{
		Rules:          changeset.Rules{Accounts: current.Of(map[string]gateway.Account{"acc": {}}), Schedule: payment.Schedule{First: time.Hour, Lease: time.Minute}},
		DefaultAccount: "acc",
	})
	store := e.Store
	r := &env{store: store, db: e.DB, desk: support.New(support.Options{Store: store.Support()})}
	r.Service = worklist.New(worklist.Options{Store: store.Worklist(), Audit: r.desk, Payments: e, Now: time.Now})
	r.settler = worklist.NewSettler(store.Worklist(), store.InCommandTx, func(id payment.DiscrepancyID, err error) {
		t.Errorf("settle %s: %v", id, err)
	})
	return r
}

func (r *env) run(t *testing.T, statements string, args ...any) {
	t.Helper()
	_, err := r.db.Exec(t.Context(), statements, args...)
	require.NoError(t, err, statements)
}

func one[T any](t *testing.T, r *env, query string, args ...any) T {
	t.Helper()
	var v T
	require.NoError(t, r.db.QueryRow(t.Context(), query, args...).Scan(&v), query)
	return v
}

func rows(t *testing.T, r *env, query string, args ...any) []string {
	t.Helper()
	found, err := r.db.Query(t.Context(), query, args...)
	require.NoError(t, err)
	list, err := pgx.CollectRows(found, pgx.RowTo[string])
	require.NoError(t, err)
	return list
}

// acts is the audit log as "actor action outcome", oldest first.
func (r *env) acts(t *testing.T) []string {
	t.Helper()
	return rows(t, r, "SELECT actor || ' ' || action || ' ' || outcome FROM staff_audit ORDER BY position")
}

// payment is an order with one final attempt of 19.99 EUR, which has these amounts.
func (r *env) payment(t *testing.T, status string, captured, refunded, disputed int64) uuid.UUID {
	t.Helper()
	const order = "A-1"
	id := uuid.New()
	r.run(t, `INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
		VALUES ($1, 'u1', 'r-' || $1, '\x01', 1999, 'EUR', now(), now())`, order)
	r.run(t, `INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency,
			amount_captured, amount_refunded, amount_disputed, created_at, updated_at, finalized_at)
		VALUES ($1, $2, 'u1', 'p-' || $1, '\x01', 'acc', $3::attempt_status, 'final', 1999, 'EUR', $4, $5, $6, now(), '2026-03-01', now())`,
		order, id, status, captured, refunded, disputed)
	return id
}

// opened is a discrepancy, of an attempt unless that is zero, with further columns.
func (r *env) opened(t *testing.T, kind payment.DiscrepancyKind, attempt uuid.UUID, columns string) payment.DiscrepancyID {
	t.Helper()
	id := uuid.New()
	r.run(t, `INSERT INTO discrepancies SELECT * FROM jsonb_populate_record(NULL::discrepancies, jsonb_build_object(
			'discrepancy_id', $1::uuid, 'kind', $2::text, 'about', '', 'about_id', '', 'account', '', 'text', 'Look at this.', 'opened_at', clock_timestamp(),
			'proposed_by', '', 'proposed_payment_id', '', 'proposed_reason', '', 'proposed_resolution', '', 'caused_by', '', 'resolved_by', '', 'resolution', '', 'reason', '',
			'provider_payment_id', '', 'assignee', '') || coalesce((SELECT jsonb_build_object('order_id', order_id, 'attempt_id', attempt_id, 'of_account', account)
				FROM payment_attempts WHERE attempt_id = $3), '{}') || $4::jsonb)`, id, string(kind), attempt, columns)
	return payment.DiscrepancyID(id)
}

// turn has the settler look through all that is open.
func (r *env) turn(ctx context.Context, t *testing.T) {
	t.Helper()
	r.run(t, "UPDATE worklist_turns SET next_at = now() - interval '1 s'")
	require.NoError(t, r.settler.Turn(ctx))
}

func firstPage(t *testing.T) support.Page {
	t.Helper()
	p, err := support.ParsePage("", "")
	require.NoError(t, err)
	return p
}
