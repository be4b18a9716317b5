package engine_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/dev/sandbox"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	provider "github.com/paylatch/paylatch/internal/provider/sandbox"
)

const (
	waitFor = 2 * time.Minute
	tick    = 10 * time.Millisecond
	lease   = 30 * time.Second
	price   = 1999
)

// env is the use cases on a real database, with the sandbox provider over HTTP and its webhooks
// delivered back.
type env struct {
	*service

	dsn   string
	store store
	db    *pgxpool.Pool // for data that no use case shows
	box   string
	opts  options
}

// setup is how an env differs from the usual.
type setup struct {
	// silent sandboxes send no webhooks.
	silent bool
	// ready, if there is one, is closed once webhooks may be received.
	ready    chan struct{}
	delays   sandbox.Delays
	provider func(gateway.Provider) gateway.Provider
	store    func(store) store
	change   func(*options)
}

func newEnv(t *testing.T, with setup) *env {
	t.Helper()
	r := &env{dsn: testdb.New(t)}
	r.store, r.db = enginetest.Open(t, r.dsn)
	var service atomic.Pointer[service]
	var p gateway.Provider
	r.box, p = startSandbox(t, with, &service)
	p = hanging{p}
	if with.provider != nil {
		p = with.provider(p)
	}
	store := r.store
	if with.store != nil {
		store = with.store(store)
	}
	r.opts = options{
		Store: store, DefaultAccount: "sandbox", Accounts: map[string]gateway.Account{"sandbox": {Provider: p}, "other": {Provider: p}},
		CustomersMay: []authz.Right{authz.CancelHold},
		Wait:         time.Minute, Lease: lease, ProviderTimeout: 25 * time.Second, RecheckAfter: 10 * time.Second, Now: time.Now,
		Seal: func(token string, _ []byte) ([]byte, error) { return []byte(token), nil },
		Open: func(sealed, _ []byte) (string, error) { return string(sealed), nil },
	}
	if with.change != nil {
		with.change(&r.opts)
	}
	r.service = r.another(t, nil)
	service.Store(r.service)
	return r
}

// another starts a second process on the same database and provider.
func (r *env) another(t *testing.T, change func(*options)) *service {
	t.Helper()
	opts := r.opts
	if change != nil {
		change(&opts)
	}
	s := newService(opts)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ran)
	})
	return s
}

// RetryParked is a round of the worker, and returns how many events it had.
func (r *env) RetryParked(ctx context.Context, limit int) (int, error) {
	return retryParked(ctx, r.service, limit)
}

func retryParked(ctx context.Context, s *service, limit int) (int, error) {
	tried, err := s.RetryParked(ctx, limit)
	for _, e := range tried {
		err = errors.Join(err, s.Fetch(ctx, e))
	}
	return len(tried), err
}

// startSandbox starts a sandbox that sends its webhooks to the service, and returns its address
// and a client of it.
func startSandbox(t *testing.T, with setup, service *atomic.Pointer[service]) (string, gateway.Provider) {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	o := sandbox.Options{Delays: with.delays}
	if !with.silent {
		hook := httptest.NewServer(once(with.ready, receiver(t, service)))
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
	return server.URL, provider.New(server.URL, "", &http.Client{Transport: transport})
}

var customer = authz.Actor{Subject: "u1", Roles: []payment.Role{payment.RoleCustomer}}

// request is a command with a key; content is the hashed text.
func request(endpoint, key, content string) idempotency.Request {
	return idempotency.Request{
		User: "u1", Endpoint: endpoint, Key: idempotency.Key(key),
		Hash: idempotency.HashRequest(http.MethodPost, endpoint, nil, nil, []byte(content)),
		Refusal: func(err error) idempotency.Response {
			return idempotency.Response{Status: http.StatusConflict, Body: []byte(err.Error())}
		},
	}
}

// order creates an order of 19.99 EUR.
func (r *env) order(t *testing.T, id payment.OrderID) {
	t.Helper()
	require.NoError(t, untilAvailable(func() error {
		_, _, err := r.CreateOrder(t.Context(), shop, request("orders", "order-"+string(id), string(id)),
			commands.CreateOrder{OrderID: id, Money: payment.Money{Minor: price, Currency: "EUR"}})
		return err
	}))
}

// untilAvailable repeats a call that found no connection in time, as a client does. A machine that is stalled for two
// seconds is no failure of the test.
func untilAvailable(call func() error) error {
	for end := time.Now().Add(waitFor); ; {
		if err := call(); !errors.Is(err, payment.ErrUnavailable) || time.Now().After(end) {
			return err
		}
	}
}

// try is one press on "pay".
func try(ctx context.Context, s *service, order payment.OrderID, key, token string) (commands.Reply, error) {
	cmd := commands.Pay{OrderID: order, Details: gateway.Details{Token: token}, Capture: payment.CaptureAutomatic}
	who := customer
	if token == "rebill" || strings.HasPrefix(token, "cst_") || strings.HasPrefix(token, "card_") || strings.HasPrefix(token, "MD") {
		who, cmd.Stored, cmd.Customer.Reference = shop, true, token
	} else if !strings.HasPrefix(token, "tok_") { // not the sandbox's: a page needs a way back
		cmd.ReturnURL = "https://shop.example/back"
	}
	return s.Pay(ctx, who, request("pay "+string(order), key, token), cmd)
}

func (r *env) pay(t *testing.T, order payment.OrderID, key, token string) commands.Reply {
	t.Helper()
	var p commands.Reply
	require.NoError(t, untilAvailable(func() (err error) {
		p, err = try(t.Context(), r.service, order, key, token)
		return err
	}))
	return p
}

// paid creates an order and tries to pay it.
func (r *env) paid(t *testing.T, order payment.OrderID, token string) commands.Reply {
	t.Helper()
	r.order(t, order)
	return r.pay(t, order, "first-key", token)
}

var byTest = payment.Cause{Kind: payment.CauseCheck, ID: "test"}

func (r *env) recheck(t *testing.T, id payment.AttemptID) seen {
	t.Helper()
	v, err := r.Recheck(t.Context(), id, byTest)
	require.NoError(t, err)
	return seen{v, r.opsView(t, v.Attempt)}
}

// everyOperation carries out each open operation of an attempt, as the due list does.
func (r *env) everyOperation(t *testing.T, id payment.AttemptID) {
	t.Helper()
	var name struct {
		Kind   payment.OperationKind
		Number int
	}
	open := rows[string](t, r, "SELECT kind || ' ' || number FROM operations WHERE attempt_id = $1 AND open ORDER BY kind, number", id.String())
	for _, o := range open {
		_, err := fmt.Sscan(o, &name.Kind, &name.Number)
		require.NoError(t, err)
		_, err = r.Execute(t.Context(), payment.OperationName{AttemptID: id, Kind: name.Kind, Number: name.Number}, byTest)
		require.NoError(t, err)
	}
}

func (r *env) attempt(t *testing.T, id payment.AttemptID) attempt {
	t.Helper()
	a, err := r.store.Attempt(t.Context(), id)
	require.NoError(t, err)
	return attempt{a, r.opsView(t, a)}
}

// Due lists the attempts of all accounts that are due.
func (r *env) Due(ctx context.Context, limit int) ([]payment.AttemptID, error) {
	return ofAccounts(ctx, r, r.service.Due, limit)
}

// DueRefunds lists the refunds of all accounts that are due.
func (r *env) DueRefunds(ctx context.Context, limit int) ([]payment.RefundID, error) {
	return ofAccounts(ctx, r, r.service.DueRefunds, limit)
}

func ofAccounts[T any](ctx context.Context, r *env, list func(context.Context, string, int) ([]T, error), limit int) (all []T, err error) {
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
