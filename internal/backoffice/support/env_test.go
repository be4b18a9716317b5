package support_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
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
	"github.com/paylatch/paylatch/webhooks"
)

// rooms are the use cases.
type rooms struct {
	activity.Commands
	activity.Inbox
	*runner.Runner
}

// env is the use cases and the support side on a real database, with the sandbox
// provider over HTTP; its webhooks are the test's.
type env struct {
	rooms

	notes *activity.Notes
	desk  *support.Service
	store *postgres.Store
	db    *pgxpool.Pool
	box   gateway.Provider
}

func newEnv(t *testing.T) *env {
	t.Helper()

	box, err := sandbox.New(sandbox.Options{})
	require.NoError(t, err)
	server := httptest.NewServer(box)
	transport := &http.Transport{}
	client := provider.New(server.URL, "", &http.Client{Transport: transport})
	dsn := testdb.New(t)
	store, db := enginetest.Open(t, dsn)
	notes := activity.NewNotes(store, time.Now)
	e := enginetest.On(t, dsn, engine.Options{
		Rules:          changeset.Rules{Accounts: current.Of(notes.Providers(map[string]gateway.Account{"sandbox": {Provider: client}}))},
		DefaultAccount: "sandbox",
	})
	all := rooms{Runner: e.Runner, Commands: activity.Commands{Notes: notes, Commands: e.Commands}, Inbox: activity.Inbox{Notes: notes, Inbox: e.Inbox}}
	enginetest.Run(t, box.Run)
	t.Cleanup(func() {
		require.NoError(t, box.Close())
		transport.CloseIdleConnections()
		server.Close()
	})
	return &env{
		rooms: all, notes: notes, store: store, db: db, box: client,
		desk: support.New(support.Options{Store: store.Support(), Payments: all, Flush: notes.Flush}),
	}
}

func (r *env) worklist() *worklist.Service {
	return worklist.New(worklist.Options{Store: r.store.Worklist(), Audit: r.desk, Payments: r.rooms, Now: time.Now})
}

func (r *env) discrepancies(ctx context.Context, who support.Staff, status, kind string, p support.Page) ([]worklist.Entry, string, error) {
	return r.worklist().List(ctx, who, worklist.Filter{Status: status, Kind: kind}, p)
}

func (r *env) resolve(ctx context.Context, who support.Staff, cmd commands.Resolve) (worklist.Entry, error) {
	return r.worklist().Resolve(ctx, who, worklist.Resolve{Resolve: cmd})
}

var (
	customer = authz.Actor{Subject: "u1", Roles: []payment.Role{payment.RoleCustomer}}
	shop     = authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}
	ann      = support.Staff{
		Actor:   authz.Actor{Subject: "ann", Roles: []payment.Role{payment.RoleSupport}},
		Address: "192.0.2.7", RequestID: "req-1",
	}
	ada = support.Staff{Actor: authz.Actor{Subject: "ada", Roles: []payment.Role{payment.RoleAdmin}}}
)

const reason = "the customer called, case 4711"

func request(user, endpoint, key, content string) idempotency.Request {
	return idempotency.Request{
		User: user, Endpoint: endpoint, Key: idempotency.Key(key),
		Hash: idempotency.HashRequest(http.MethodPost, endpoint, nil, nil, []byte(content)),
		Refusal: func(err error) idempotency.Response {
			return idempotency.Response{Status: http.StatusConflict, Body: []byte(err.Error())}
		},
	}
}

func (r *env) order(t *testing.T, id payment.OrderID) {
	t.Helper()
	_, _, err := r.CreateOrder(t.Context(), shop, request("u1", "orders", "order-"+string(id), string(id)),
		commands.CreateOrder{OrderID: id, Money: payment.Money{Minor: 1999, Currency: "EUR"}})
	require.NoError(t, err)
}

func (r *env) press(ctx context.Context, order payment.OrderID, key, token string) (commands.Reply, error) {
	return r.Pay(ctx, customer, request("u1", "pay "+string(order), key, token), commands.Pay{
		OrderID: order, Details: gateway.Details{Token: token}, Capture: payment.CaptureAutomatic,
	})
}

// paid is an attempt at a new order.
func (r *env) paid(t *testing.T, order payment.OrderID, token string) commands.Reply {
	t.Helper()
	r.order(t, order)
	p, err := r.press(t.Context(), order, "first-key", token)
	require.NoError(t, err)
	return p
}

func event(kind webhooks.Kind, names ...string) webhooks.Event {
	e := webhooks.Event{ID: "evt_" + uuid.NewString(), IDSource: webhooks.Native, Type: "test." + string(kind), Kind: kind, References: names}
	if kind == webhooks.KindSucceeded || kind == webhooks.KindAuthorized {
		e.Money = &webhooks.Money{Minor: 1999, Currency: "EUR"}
	}
	return e
}

// tell delivers an event with a body and returns the verdict.
func (r *env) tell(t *testing.T, e webhooks.Event, body string) fsm.Verdict {
	t.Helper()
	verdicts, err := r.Intake(t.Context(), []payment.ReceivedEvent{{
		Account: "sandbox", Event: e, Body: []byte(body), At: time.Now(), Headers: map[string]string{"content-type": "application/json", "webhook-signature": "v1,secret"},
	}})
	require.NoError(t, err)
	return verdicts[0]
}

func (r *env) page(t *testing.T, id payment.AttemptID) support.Attempt {
	t.Helper()
	page, err := r.desk.Attempt(t.Context(), ann, id)
	require.NoError(t, err)
	return page
}

func (r *env) eventID(t *testing.T, e webhooks.Event) payment.EventID {
	t.Helper()
	var id uuid.UUID
	require.NoError(t, r.db.QueryRow(t.Context(), "SELECT event_id FROM provider_events WHERE provider_event_id = $1", e.ID).Scan(&id))
	return payment.EventID(id)
}

func rows[T any](t *testing.T, r *env, query string, args ...any) []T {
	t.Helper()
	found, err := r.db.Query(t.Context(), query, args...)
	require.NoError(t, err)
	values, err := pgx.CollectRows(found, pgx.RowTo[T])
	require.NoError(t, err)
	return values
}

// audit is the audit log as "actor action outcome", oldest first.
func (r *env) audit(t *testing.T) []string {
	t.Helper()
	return rows[string](t, r, "SELECT actor || ' ' || action || ' ' || outcome FROM staff_audit ORDER BY entry_id")
}

func firstPage(t *testing.T) support.Page {
	t.Helper()
	p, err := support.ParsePage("", "")
	require.NoError(t, err)
	return p
}

// The limit and the interval of a test's wait for a condition.
const (
	patience = 30 * time.Second
	tick     = 20 * time.Millisecond
)

func errorsIsBusy(err error) bool { return errors.Is(err, payment.ErrBusy) }

func isDescending(ids []string) bool {
	return slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(b, a) })
}
