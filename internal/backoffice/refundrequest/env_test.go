package refundrequest_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/dev/sandbox"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine"
	"github.com/paylatch/paylatch/internal/engine/activity"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/internal/postgres"
	provider "github.com/paylatch/paylatch/internal/provider/sandbox"
)

// env is one process's use cases on a real database, with the sandbox provider over HTTP.
type env struct {
	activity.Commands
	*runner.Runner

	requests *refundrequest.Service
	desk     *support.Service
	notes    *activity.Notes
	store    *postgres.Store
	db       *pgxpool.Pool
	dsn, box string
	// before is called with each request to the provider before that gets it; it may be nil.
	before atomic.Pointer[func(r *http.Request)]
}

var (
	shop = authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}
	sam  = staff("sam", payment.RoleSupport)
	sue  = staff("sue", payment.RoleSupport)
	ada  = staff("ada", payment.RoleAdmin)
	bob  = staff("bob", payment.RoleAdmin)
)

func staff(name string, role payment.Role) support.Staff {
	return support.Staff{Actor: authz.Actor{Subject: name, Roles: []payment.Role{role}}, Address: "192.0.2.7", RequestID: "req-1"}
}

func newEnv(t *testing.T) *env {
	t.Helper()
	box, err := sandbox.New(sandbox.Options{})
	require.NoError(t, err)
	e := &env{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := e.before.Load(); f != nil {
			(*f)(r)
		}
		box.ServeHTTP(w, r)
	}))
	e.dsn, e.box = testdb.New(t), server.URL
	t.Cleanup(func() {
		require.NoError(t, box.Close())
		server.Close()
	})
	enginetest.Run(t, box.Run)
	e.wire(t)
	return e
}

// another is a process beside this one: same database, same provider.
func (e *env) another(t *testing.T) *env {
	t.Helper()
	b := &env{dsn: e.dsn, box: e.box}
	b.wire(t)
	return b
}

func (e *env) wire(t *testing.T) {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	on := enginetest.On(t, e.dsn, engine.Options{
		Rules:          changeset.Rules{Accounts: current.Of(map[string]gateway.Account{"sandbox": {Provider: provider.New(e.box, "", &http.Client{Transport: transport})}})},
		DefaultAccount: "sandbox",
	})
	e.store, e.db, e.Runner, e.notes = on.Store, on.DB, on.Runner, activity.NewNotes(on.Store, time.Now)
	e.Commands = activity.Commands{Notes: e.notes, Commands: on.Commands}
	e.desk = support.New(support.Options{Store: e.store.Support(), Payments: nil, Flush: e.notes.Flush})
	e.requests = refundrequest.New(e.store.Requests(), e.Commands, e.desk)
}

func request(endpoint, key string) idempotency.Request {
	return idempotency.Request{User: "u1", Endpoint: endpoint, Key: idempotency.Key(key), Hash: [32]byte{1}, Refusal: func(err error) idempotency.Response {
		return idempotency.Response{Status: http.StatusConflict, Body: []byte(err.Error())}
	}}
}

// paid is an attempt that was charged 19.99 EUR.
func (e *env) paid(t *testing.T) payment.AttemptID {
	t.Helper()
	const order = "A-1"
	_, _, err := e.CreateOrder(t.Context(), shop, request("orders", "order-"+order), commands.CreateOrder{OrderID: order, Money: payment.Money{Minor: 1999, Currency: "EUR"}})
	require.NoError(t, err)
	p, err := e.Pay(t.Context(), shop, request("pay "+order, "press-of-"+order), commands.Pay{
		OrderID: order, Details: gateway.Details{Token: "tok_success"}, Capture: payment.CaptureAutomatic,
	})
	require.NoError(t, err)
	require.True(t, p.Succeeded(), p.State)
	return p.ID
}

// ask is an open request of sam.
func (e *env) ask(t *testing.T, id payment.AttemptID, amount int64) refundrequest.Request {
	t.Helper()
	r, made, err := e.requests.Create(t.Context(), sam, refundrequest.Create{AttemptID: id, Amount: amount, Reason: "case 4711"})
	require.NoError(t, err)
	require.True(t, made)
	return r
}

func rows[T any](t *testing.T, e *env, query string, args ...any) []T {
	t.Helper()
	found, err := e.db.Query(t.Context(), query, args...)
	require.NoError(t, err)
	values, err := pgx.CollectRows(found, pgx.RowTo[T])
	require.NoError(t, err)
	return values
}

// refunds are the refunds as "user amount status".
func (e *env) refunds(t *testing.T) []string {
	t.Helper()
	return rows[string](t, e, "SELECT user_id || ' ' || amount || ' ' || status FROM refunds ORDER BY created_at, refund_id")
}

// audit is the audit log as "actor action outcome", oldest first.
func (e *env) audit(t *testing.T) []string {
	t.Helper()
	return rows[string](t, e, "SELECT actor || ' ' || action || ' ' || outcome FROM staff_audit ORDER BY position")
}

func (e *env) refundOnce(t *testing.T, id payment.AttemptID, amount int64) {
	t.Helper()
	_, err := e.Refund(t.Context(), shop, request("refund "+id.String(), "refund-of-the-shop"), commands.CreateRefund{AttemptID: id, Amount: &amount})
	require.NoError(t, err)
}
