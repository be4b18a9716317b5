package payment_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	provider "github.com/paylatch/paylatch/internal/provider/sandbox"
	"github.com/paylatch/paylatch/internal/sandbox"
	"github.com/paylatch/paylatch/internal/testdb"
)

const (
	patience = 30 * time.Second
	tick     = 10 * time.Millisecond
	lease    = 30 * time.Second
	price    = 1999
)

// rig is the use cases on a real database, with the sandbox provider over HTTP
// and its webhooks delivered back.
type rig struct {
	*payment.Service

	dsn   string
	store payment.Store
	db    *pgxpool.Pool // for what no use case shows
	box   string
	opts  payment.Options
}

// setup says how a rig differs from the usual.
type setup struct {
	// silent sandboxes send no webhooks.
	silent bool
	// heard, if there is one, is closed once webhooks may be received.
	heard    chan struct{}
	delays   sandbox.Delays
	provider func(payment.Provider) payment.Provider
	store    func(payment.Store) payment.Store
	change   func(*payment.Options)
}

func newRig(t *testing.T, with setup) *rig {
	t.Helper()
	r := &rig{dsn: testdb.New(t)}
	r.store, r.db = open(t, r.dsn)
	var service atomic.Pointer[payment.Service]
	var p payment.Provider
	r.box, p = startSandbox(t, with, &service)
	if with.provider != nil {
		p = with.provider(p)
	}
	store := r.store
	if with.store != nil {
		store = with.store(store)
	}
	r.opts = payment.Options{
		Store: store, DefaultAccount: "sandbox", Accounts: map[string]payment.Account{"sandbox": {Provider: p}, "other": {Provider: p}},
		Wait: 10 * time.Second, Lease: lease, ProviderTimeout: 10 * time.Second, RecheckAfter: 10 * time.Second, Now: time.Now,
		Seal: func(token string, _ payment.AttemptID) ([]byte, error) { return []byte(token), nil },
		Open: func(sealed []byte, _ payment.AttemptID) (string, error) { return string(sealed), nil },
	}
	if with.change != nil {
		with.change(&r.opts)
	}
	r.Service = r.another(t, nil)
	service.Store(r.Service)
	return r
}

// another starts a second process on the same database and provider.
func (r *rig) another(t *testing.T, change func(*payment.Options)) *payment.Service {
	t.Helper()
	opts := r.opts
	if change != nil {
		change(&opts)
	}
	s := payment.New(opts)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ran)
	})
	return s
}

// RetryParked is a turn of the worker, and returns how many events it had.
func (r *rig) RetryParked(ctx context.Context, limit int) (int, error) {
	return retryParked(ctx, r.Service, limit)
}

func retryParked(ctx context.Context, s *payment.Service, limit int) (int, error) {
	tried, err := s.RetryParked(ctx, limit)
	for _, e := range tried {
		err = errors.Join(err, s.Fetch(ctx, e))
	}
	return len(tried), err
}

func open(t *testing.T, dsn string) (*postgres.Store, *pgxpool.Pool) {
	t.Helper()
	store, err := postgres.Open(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(store.Close)
	db, err := pgxpool.New(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return store, db
}

// startSandbox starts a sandbox whose webhooks go to the service, and returns its
// address and a client of it.
func startSandbox(t *testing.T, with setup, service *atomic.Pointer[payment.Service]) (string, payment.Provider) {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	o := sandbox.Options{Delays: with.delays}
	if !with.silent {
		hook := httptest.NewServer(once(with.heard, receiver(t, service)))
		t.Cleanup(hook.Close)
		o.WebhookURL, o.WebhookSecret = hook.URL, secret
	}
	box, err := sandbox.New(o)
	require.NoError(t, err)
	server := httptest.NewServer(box)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ran := make(chan error, 1)
	go func() { ran <- box.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ran)
		require.NoError(t, box.Close())
		transport.CloseIdleConnections()
		server.Close()
	})
	return server.URL, provider.New(server.URL, &http.Client{Transport: transport})
}

var customer = payment.Actor{Subject: "u1", Roles: []payment.Role{payment.RoleCustomer}}

// request is a command with a key; content is what is hashed.
func request(endpoint, key, content string) idempotency.Request {
	return idempotency.Request{
		User: "u1", Endpoint: endpoint, Key: idempotency.Key(key),
		Hash: idempotency.HashRequest(http.MethodPost, endpoint, nil, nil, []byte(content)),
		Refusal: func(err error) idempotency.Answer {
			return idempotency.Answer{Status: http.StatusConflict, Body: []byte(err.Error())}
		},
	}
}

// order creates an order of 19.99 EUR.
func (r *rig) order(t *testing.T, id payment.OrderID) {
	t.Helper()
	require.NoError(t, patiently(func() error {
		_, _, err := r.CreateOrder(t.Context(), shop, request("orders", "order-"+string(id), string(id)),
			payment.CreateOrder{OrderID: id, Money: payment.Money{Minor: price, Currency: "EUR"}})
		return err
	}))
}

// patiently calls again what found no connection in time, as a client does. A
// machine that stands still for two seconds is no finding.
func patiently(call func() error) error {
	for end := time.Now().Add(patience); ; {
		if err := call(); !errors.Is(err, payment.ErrUnavailable) || time.Now().After(end) {
			return err
		}
	}
}

// try is one press on "pay".
func try(ctx context.Context, s *payment.Service, order payment.OrderID, key, token string) (payment.Reply, error) {
	cmd := payment.Pay{OrderID: order, Token: token, Capture: payment.CaptureAutomatic}
	who := customer
	if token == "rebill" || strings.HasPrefix(token, "cst_") || strings.HasPrefix(token, "card_") {
		who, cmd.Stored, cmd.Customer = shop, true, token
	}
	return s.Pay(ctx, who, request("pay "+string(order), key, token), cmd)
}

func (r *rig) pay(t *testing.T, order payment.OrderID, key, token string) payment.Reply {
	t.Helper()
	var p payment.Reply
	require.NoError(t, patiently(func() (err error) {
		p, err = try(t.Context(), r.Service, order, key, token)
		return err
	}))
	return p
}

// paid is an order that was just tried to pay.
func (r *rig) paid(t *testing.T, order payment.OrderID, token string) payment.Reply {
	t.Helper()
	r.order(t, order)
	return r.pay(t, order, "first-key", token)
}

var byTest = payment.Cause{Kind: payment.CauseCheck, ID: "test"}

func (r *rig) recheck(t *testing.T, id payment.AttemptID) payment.View {
	t.Helper()
	v, err := r.Recheck(t.Context(), id, byTest)
	require.NoError(t, err)
	return v
}

func (r *rig) attempt(t *testing.T, id payment.AttemptID) payment.Attempt {
	t.Helper()
	a, err := r.store.Attempt(t.Context(), id)
	require.NoError(t, err)
	return a
}

// Due lists the attempts of all accounts that are due.
func (r *rig) Due(ctx context.Context, limit int) ([]payment.AttemptID, error) {
	return ofAccounts(ctx, r, r.Service.Due, limit)
}

// DueRefunds lists the refunds of all accounts that are due.
func (r *rig) DueRefunds(ctx context.Context, limit int) ([]payment.RefundID, error) {
	return ofAccounts(ctx, r, r.Service.DueRefunds, limit)
}

func ofAccounts[T any](ctx context.Context, r *rig, list func(context.Context, string, int) ([]T, error), limit int) (all []T, err error) {
	accounts, err := r.DueAccounts(ctx)
	if err != nil {
		return nil, err
	}
	for _, account := range accounts {
		due, err := list(ctx, account, limit)
		if err != nil {
			return nil, err
		}
		all = append(all, due...)
	}
	return all, nil
}
