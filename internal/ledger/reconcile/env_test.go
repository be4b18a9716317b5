package reconcile_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/imports"
	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/ledger/verify"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/internal/postgres"
)

const (
	price            = 1999
	reconcileAccount = "bank"
)

func euros(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "EUR"} }

// env is a reconciler on a real database, with a provider whose books and lookups the test sets.
type env struct {
	*reconcile.Reconciler

	store *postgres.Store
	// restored is the hold of all accounts; nil if there is no hold.
	restored *atomic.Pointer[reconcile.Hold]
	// meanwhile runs once, before the next forgotten payment is made again.
	meanwhile *atomic.Pointer[func()]
	db        *pgxpool.Pool
	bank      *bank
	use       *commands.Commands
	run       *runner.Runner
	// count and found are of the last run.
	count reconcile.Count
	found []payment.Discrepancy
}

func newEnv(t *testing.T) *env {
	t.Helper()
	b := &bank{stands: map[string]gateway.Outcome{}, fails: map[string]error{}}
	restored, meanwhile := &atomic.Pointer[reconcile.Hold]{}, &atomic.Pointer[func()]{}
	hold := restored.Load
	rules := changeset.Rules{
		Accounts: current.Of(map[string]gateway.Account{
			reconcileAccount: {Provider: b, Books: b, Statement: b.statement},
			"strict":         {Provider: b, Books: b, Foreign: gateway.Foreign{Review: true}},
			"bookless":       {Provider: b},
			"filed":          {Provider: b, Statement: b.statement},
		}),
		Schedule: payment.Schedule{First: time.Minute, Lease: 30 * time.Second},
	}
	e := enginetest.New(t, engine.Options{Rules: rules, DefaultAccount: reconcileAccount})
	store := e.Store
	o := reconcile.Options{
		Store: store, Payments: payments{e.Runner}, Rules: rules, Now: time.Now,
		Pause:  func(context.Context, time.Duration) error { return nil },
		HoldOf: func(context.Context, string) (*reconcile.Hold, error) { return hold(), nil },
		Recall: func(ctx context.Context, p imports.Past) error {
			if act := meanwhile.Swap(nil); act != nil {
				(*act)()
			}
			return imports.Make(ctx, imports.Options{Store: store, Rules: rules, Account: p.Account, Now: time.Now}, p)
		},
	}
	return &env{
		Reconciler: reconcile.New(o), store: store, restored: restored, meanwhile: meanwhile, db: e.DB, bank: b, run: e.Runner, use: e.Commands,
	}
}

// payments is the runner as the reconciler sees it.
type payments struct{ *runner.Runner }

// bank is a provider with books.
type bank struct {
	gateway.Provider

	mu sync.Mutex
	// next is the response to the next charge; zero for a success.
	next gateway.Outcome
	// stands are the statuses of payments in lookups, fails the failing lookups; asked records the lookups.
	stands map[string]gateway.Outcome
	fails  map[string]error
	asked  []string
	books  []gateway.Entry
	// payouts are the payouts that the provider lists, of any time.
	payouts []payment.PayoutReport
	// paidIn is the last span whose payouts were read.
	paidIn gateway.Span
	// unread is the error that the books return after all entries.
	unread error
	// contains is set if a charge returns the id of the payment's container.
	contains bool
	// between is called before each entry; nil for no call.
	between func(i int) error
}

func (b *bank) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		Lookup: payment.LookupByID, Identity: payment.IdentityOwn, CapturesSeen: true, Cancels: payment.CancelsByID, Refunds: payment.RefundsParts,
	}
}

func (b *bank) TokenKind(string) gateway.TokenKind { return gateway.TokenSingleUse }

func (*bank) Unseen(gateway.Details) (time.Duration, bool) { return 0, false }

func (b *bank) Accepts(gateway.Charge) error { return nil }

// Charge takes the money, under an id that is made of the order's.
func (b *bank) Charge(_ context.Context, c gateway.Charge) (gateway.Outcome, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.next
	b.next = gateway.Outcome{}
	if out.Event == "" {
		out = gateway.Outcome{Event: fsm.EventSucceeded, Money: &c.Money}
	}
	id := "pay_" + string(c.Order)
	if out.ProviderPaymentID = id; b.contains {
		out.ProviderPaymentID, out.Container = "", id
	}
	b.stands[id] = out
	return out, nil
}

func (b *bank) Lookup(_ context.Context, id string) (gateway.Outcome, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, id)
	if err := b.fails[id]; err != nil {
		return gateway.Outcome{}, err
	}
	return b.stands[id], nil
}

// Entries passes the books' entries of a span, in the order of the books.
func (b *bank) Entries(_ context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	for i, e := range b.books {
		if b.between != nil {
			if err := b.between(i); err != nil {
				return err
			}
		}
		if !in.Has(e.Movement.At) {
			continue
		}
		if err := take(e); err != nil {
			return err
		}
	}
	return b.unread
}

// Payouts implements gateway.Payouts.
func (b *bank) Payouts(_ context.Context, in gateway.Span, take func(payment.PayoutReport) error) error {
	b.mu.Lock()
	b.paidIn = in
	b.mu.Unlock()
	for _, p := range b.payouts {
		if err := take(p); err != nil {
			return err
		}
	}
	return nil
}

func reconcileRequest(endpoint, key string) idempotency.Request {
	return idempotency.Request{
		User: "u1", Endpoint: endpoint, Key: idempotency.Key(key), Hash: idempotency.HashRequest(http.MethodPost, endpoint, nil, nil, []byte(key)),
		Refusal: func(err error) idempotency.Response {
			return idempotency.Response{Status: http.StatusConflict, Body: []byte(err.Error())}
		},
	}
}

// order makes an order of u1.
func (r *env) order(t *testing.T, id string) error {
	t.Helper()
	shop := authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}
	_, _, err := r.use.CreateOrder(t.Context(), shop, reconcileRequest("orders", "order-of-"+id), commands.CreateOrder{OrderID: payment.OrderID(id), Money: euros(price)})
	return err
}

// press pays an order.
func (r *env) press(t *testing.T, order string) (payment.View, error) {
	t.Helper()
	customer := authz.Actor{Subject: "u1", Roles: []payment.Role{payment.RoleCustomer}}
	cmd := commands.Pay{OrderID: payment.OrderID(order), Details: gateway.Details{Token: "tok"}, Capture: payment.CaptureAutomatic}
	reply, err := r.use.Pay(t.Context(), customer, reconcileRequest("pay "+order, "pay-of-"+order), cmd)
	return reply.View, err
}

// pay makes an order and its attempt, and returns that.
func (r *env) pay(t *testing.T, order string) payment.Attempt {
	t.Helper()
	require.NoError(t, r.order(t, order))
	v, err := r.press(t, order)
	require.NoError(t, err)
	return r.attempt(t, v.ID)
}

// attempt reads an attempt with its movements.
func (r *env) attempt(t *testing.T, id payment.AttemptID) payment.Attempt {
	t.Helper()
	all, err := r.store.Recorded(t.Context(), []payment.AttemptID{id})
	require.NoError(t, err)
	return all[id]
}

// lately is a span that has all that a test makes.
func lately() gateway.Span {
	return gateway.Span{From: time.Now().Add(-2 * time.Hour), To: time.Now().Add(time.Second)}
}

func (r *env) request() reconcile.Request {
	return reconcile.Request{
		Account: reconcileAccount, Span: lately(), By: "cli:test", Progress: func(reconcile.Count) {}, Found: func(d payment.Discrepancy) { r.found = append(r.found, d) },
	}
}

// reconcile runs over the payments of a test.
func (r *env) reconcile(t *testing.T, change ...func(*reconcile.Request)) {
	t.Helper()
	require.NoError(t, r.tryReconcile(t, change...))
	require.Empty(t, r.verify(t))
}

func (r *env) tryReconcile(t *testing.T, change ...func(*reconcile.Request)) (err error) {
	t.Helper()
	r.found = nil
	q := r.request()
	for _, c := range change {
		c(&q)
	}
	r.count, err = r.Run(t.Context(), q)
	return err
}

func (r *env) verify(t *testing.T) []verify.Difference {
	t.Helper()
	v, err := verify.Verify(t.Context(), r.store.Evidence(), payment.AttemptID{}, 1000, false)
	require.NoError(t, err)
	return v.Differences
}

// open lists the kinds and causes of all discrepancies.
func (r *env) open(t *testing.T) []string {
	t.Helper()
	return rows(t, r, "SELECT kind || ' ' || about || ' ' || about_id FROM discrepancies ORDER BY 1")
}

func rows(t *testing.T, r *env, sql string) []string {
	t.Helper()
	found, err := r.db.Query(t.Context(), sql)
	require.NoError(t, err)
	all, err := pgx.CollectRows(found, pgx.RowTo[string])
	require.NoError(t, err)
	return all
}

// reconcileEntry is an entry of the books about a payment, dated now. Without an id its money is a total.
func reconcileEntry(id, of string, kind payment.MovementKind, movement string, money payment.Money) gateway.Entry {
	return gateway.Entry{ID: id, Payment: of, Movement: payment.MovementReport{Kind: kind, ID: movement, Money: money, At: time.Now().Add(-time.Minute)}}
}

// captured is the entry of a payment's capture, with its fee and its net amount.
func captured(of string) gateway.Entry {
	e := reconcileEntry("cap_"+of, of, payment.MovementCapture, "", euros(price))
	fee, net := euros(59), euros(price-59)
	e.Fee, e.Net = &fee, &net
	return e
}

// shown adds refunds to the result of a lookup.
func (b *bank) shown(id string, refunds ...gateway.RefundOutcome) {
	out := b.stands[id]
	out.Refunds = append(slices.Clip(out.Refunds), refunds...)
	b.stands[id] = out
}

func kinds(found []payment.Discrepancy) (all []string) {
	for _, d := range found {
		all = append(all, fmt.Sprintf("%s %s %s", d.Kind, d.About, d.AboutID))
	}
	return all
}
