package recheck_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/recheck"
	"github.com/paylatch/paylatch/internal/ledger/verify"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/webhooks"
)

const account = "acc"

// env is the use cases on a real database, with a provider that sends no webhooks.
type env struct {
	*commands.Commands
	*intake.Inbox
	*runner.Runner

	*dashboard
	store *postgres.Store
	db    *pgxpool.Pool
	rules changeset.Rules

	mu sync.Mutex
	// counted are the results of the schedule, now is its clock.
	counted map[string]int
	now     func() time.Time
}

func newEnv(t *testing.T) *env {
	t.Helper()
	r := &env{dashboard: newDashboard(), counted: map[string]int{}, now: time.Now}
	r.rules = changeset.Rules{Accounts: current.Of(map[string]gateway.Account{account: {Provider: r.dashboard}, "webhooks only": {}})}
	e := enginetest.New(t, engine.Options{Rules: r.rules, DefaultAccount: account})
	r.Commands, r.Inbox, r.Runner, r.store, r.db = e.Commands, e.Inbox, e.Runner, e.Store, e.DB
	return r
}

// process is the commands of another process.
func (r *env) process() *commands.Commands {
	return commands.New(commands.Options{Store: r.store, Runner: r.Runner, DefaultAccount: account, Wait: time.Minute})
}

var (
	shop     = authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}
	customer = authz.Actor{Subject: "u1", Roles: []payment.Role{payment.RoleCustomer}}
	byTest   = payment.Cause{Kind: payment.CauseCheck, ID: "test"}
)

func request(endpoint, key string) idempotency.Request {
	return idempotency.Request{
		User: "u1", Endpoint: endpoint, Key: idempotency.Key(key), Hash: idempotency.HashRequest(http.MethodPost, endpoint, nil, nil, nil),
		Refusal: func(err error) idempotency.Response {
			return idempotency.Response{Status: http.StatusConflict, Body: []byte(err.Error())}
		},
	}
}

// pay makes an order and its first attempt, which becomes final.
func (r *env) pay(t *testing.T, order payment.OrderID, says fsm.Event) payment.Attempt {
	t.Helper()
	r.charge = says
	_, _, err := r.CreateOrder(t.Context(), shop, request("orders", "order-"+string(order)), commands.CreateOrder{OrderID: order, Money: euro(price)})
	require.NoError(t, err)
	reply, err := r.Pay(t.Context(), shop, request("pay "+string(order), "pay-key-1"), commands.Pay{
		OrderID: order, Details: gateway.Details{Token: "tok"}, Capture: payment.CaptureAutomatic,
	})
	require.NoError(t, err)
	require.True(t, reply.State.Final())
	return reply.Attempt
}

func (r *env) refunds(ctx context.Context, id payment.AttemptID, key string, minor int64) error {
	_, err := r.Commands.Refund(ctx, shop, request("refund", key), commands.CreateRefund{AttemptID: id, Amount: &minor})
	return err
}

// tell delivers a webhook of a refund.
func (r *env) tell(ctx context.Context, a payment.Attempt, refund string, minor int64) error {
	e := webhooks.Event{
		ID: "evt_" + uuid.NewString(), IDSource: webhooks.Native, Type: "refund", Kind: webhooks.KindRefundSucceeded,
		ProviderPaymentID: a.ProviderPaymentID, References: []string{a.ProviderPaymentID}, RefundID: refund,
		Money: &webhooks.Money{Minor: minor, Currency: "EUR"},
	}
	_, err := r.Intake(ctx, []payment.ReceivedEvent{{Account: account, Event: e, Body: []byte("{}"), At: time.Now()}})
	return err
}

func (r *env) attempt(t *testing.T, id payment.AttemptID) payment.Attempt {
	t.Helper()
	a, err := r.store.Attempt(t.Context(), id)
	require.NoError(t, err)
	return a
}

func rows[T any](t *testing.T, r *env, query string, args ...any) []T {
	t.Helper()
	found, err := r.db.Query(t.Context(), query, args...)
	require.NoError(t, err)
	values, err := pgx.CollectRows(found, pgx.RowTo[T])
	require.NoError(t, err)
	return values
}

// requireVerified derives everything again. Tests make attempts older by their times.
func (r *env) requireVerified(t *testing.T) {
	t.Helper()
	v, err := verify.Verify(t.Context(), r.store.Evidence(), payment.AttemptID{}, 1000, false)
	require.NoError(t, err)
	for _, d := range v.Differences {
		require.Equal(t, "times_follow_log", d.Check, "%+v", d)
	}
}

// rechecker is the schedule of another process.
func (r *env) rechecker(ask recheck.Runner) *recheck.Rechecker {
	return recheck.New(recheck.Options{Store: r.store, Runner: ask, Accounts: r.rules.Accounts, Now: r.now, Counted: func(of, result string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if of == account {
			r.counted[result]++
		}
	}})
}

// again begins the account's next turn.
func (r *env) again(t *testing.T) {
	t.Helper()
	_, err := r.db.Exec(t.Context(), "UPDATE final_cursors SET next_at = now()")
	require.NoError(t, err)
}

// aged gives an attempt an id and a time of the past, as if it had begun then.
func (r *env) aged(t *testing.T, a payment.Attempt, id payment.AttemptID) payment.Attempt {
	t.Helper()
	tx, err := r.db.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	for _, statement := range []string{
		"SET LOCAL session_replication_role = replica", // no triggers, no foreign keys
		fmt.Sprintf("UPDATE payment_attempts SET attempt_id = '%s' WHERE attempt_id = '%s'", id, a.ID),
	} {
		_, err = tx.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	for _, table := range []string{"attempt_references", "attempt_transitions", "money_movements", "operations", "refunds", "outbox"} {
		_, err = tx.Exec(t.Context(), fmt.Sprintf("UPDATE %s SET attempt_id = '%s' WHERE attempt_id = '%s'", table, id, a.ID))
		require.NoError(t, err)
	}
	require.NoError(t, tx.Commit(t.Context()))
	return r.attempt(t, id)
}
