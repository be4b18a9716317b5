package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/webhooks"
)

// The steps before which an actor waits.
const (
	atRead        = "read"
	atTransaction = "transaction"
	atCommit      = "commit"
	atSocket      = "first byte"
	atProvider    = "call at the provider"
)

// theatre is where the trials of a scenario play: one database, and a pool of connections for each process.
type theatre struct {
	db     *pgxpool.Pool
	store  *postgres.Store
	stores []*processStore
	// fine is set where an actor also waits before each commit, and before the first byte of a call.
	fine   bool
	trials int
	// verified is the last attempt that was derived again.
	verified payment.AttemptID
}

// processStore is the store of one process of the present trial.
type processStore struct {
	*postgres.Store

	actor atomic.Pointer[actor]
	of    atomic.Pointer[trial]
}

func processName(n int) string { return fmt.Sprintf("explored-%d", n) }

func newTheatre(t *testing.T, processes int, fine bool) *theatre {
	t.Helper()
	dsn := testdb.New(t)
	th := &theatre{fine: fine}
	th.store, th.db = enginetest.Open(t, dsn)
	for i := range processes {
		s := &processStore{Store: enginetest.Store(t, withName(t, dsn, processName(i)))}
		if fine {
			s.OnCommit(func(commit func() error) error {
				if a := s.actor.Load(); a != nil {
					if err := s.of.Load().stop(a, atCommit); err != nil {
						return err
					}
				}
				return commit()
			})
		}
		_, err := s.Keys().Sealing(t.Context()) // no trial is to make it
		require.NoError(t, err)
		th.stores = append(th.stores, s)
	}
	return th
}

// withName is the address of a database with an application's name.
func withName(t *testing.T, dsn, name string) string {
	t.Helper()
	if !strings.Contains(dsn, "://") {
		return dsn + " application_name=" + name
	}
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	query := u.Query()
	query.Set("application_name", name)
	u.RawQuery = query.Encode()
	return u.String()
}

// trial is one run of a scenario: an order of its own, the provider, and the actors.
type trial struct {
	*theatre

	ctx      context.Context
	p        *scripted
	suffix   string
	order    payment.OrderID
	user     payment.UserID
	account  string
	actors   []*actor
	arrivals chan arrival
	over     chan struct{}
	// moved are the actors that the last step has moved.
	moved []*actor
	trace []string
	// faults is how many processes may still die, or lose a response.
	faults int
	// passed is set once the leases are over.
	passed bool
	// wrong is a broken promise, spoiled a stalled machine.
	wrong   string
	spoiled bool
}

func (th *theatre) trial(t *testing.T) *trial {
	t.Helper()
	th.trials++
	c := &trial{
		theatre: th, ctx: t.Context(), p: &scripted{}, suffix: fmt.Sprintf("-%06d", th.trials),
		arrivals: make(chan arrival), over: make(chan struct{}),
	}
	c.order, c.user, c.account = payment.OrderID("order"+c.suffix), payment.UserID("user"+c.suffix), "account"+c.suffix
	c.p.reset()
	for _, s := range th.stores {
		s.actor.Store(nil)
		s.of.Store(c)
	}
	_, _, err := c.service(nil).CreateOrder(c.ctx, c.staff(), c.request("orders", "order-key"),
		commands.CreateOrder{OrderID: c.order, Money: payment.Money{Minor: price, Currency: "EUR"}})
	require.NoError(t, err)
	return c
}

// close ends everything that still waits.
func (c *trial) close() {
	close(c.over)
	for _, a := range c.actors {
		if a.stage != idle {
			<-a.gone
		}
	}
}

func (c *trial) staff() authz.Actor {
	return authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: c.user}
}

func (c *trial) request(endpoint, key string) idempotency.Request {
	r := request(endpoint, key, "")
	r.User = string(c.user)
	return r
}

// service is a process that an actor's steps run in. Without an actor nothing waits.
func (c *trial) service(a *actor) *service {
	var s store = c.store
	var p gateway.Provider = c.p
	if a != nil {
		c.stores[a.process].actor.Store(a)
		s = pausingStore{spyStore{store: c.stores[a.process].Store, around: func(run func() error) error {
			if err := c.stop(a, atTransaction); err != nil {
				return err
			}
			return run()
		}}, func() error { return c.stop(a, atRead) }}
		p = pausingProvider{c.p, c, a}
	}
	return newService(options{
		Store: s, DefaultAccount: c.account, Accounts: map[string]gateway.Account{c.account: {Provider: p}},
		Wait: time.Millisecond, Lease: lease, ProviderTimeout: lease / 2, RecheckAfter: 10 * time.Second, Now: c.p.now,
		Seal: func(token string, _ []byte) ([]byte, error) { return []byte(token), nil },
		Open: func(sealed, _ []byte) (string, error) { return string(sealed), nil },
	})
}

// pausingStore waits before each transaction, and before each read that a decision follows.
type pausingStore struct {
	spyStore

	pause func() error
}

func (s pausingStore) AttemptsByRequest(ctx context.Context, requests []payment.RequestName) (map[payment.RequestName]payment.Attempt, error) {
	if err := s.pause(); err != nil {
		return nil, err
	}
	return s.store.AttemptsByRequest(ctx, requests)
}

func (s pausingStore) DueOperations(ctx context.Context, account string, limit int) ([]payment.OperationName, error) {
	if err := s.pause(); err != nil {
		return nil, err
	}
	return s.store.DueOperations(ctx, account, limit)
}

// pausingProvider waits before each call reaches the provider. A charge that has left is on its way: it arrives although the
// permit may have ended meanwhile.
type pausingProvider struct {
	*scripted

	c *trial
	a *actor
}

func (p pausingProvider) Charge(ctx context.Context, charge gateway.Charge) (gateway.Outcome, error) {
	if p.c.fine {
		if err := p.c.stop(p.a, atSocket); err != nil {
			return gateway.Outcome{}, err
		}
	}
	if err := charge.Permit.Check(); err != nil {
		return gateway.Outcome{}, err
	}
	err := p.c.stop(p.a, atProvider)
	if errors.Is(err, errDied) {
		return gateway.Outcome{}, err
	}
	charge.Permit = gateway.NewPermit(p.now(), lease, p.now)
	out, failed := p.scripted.Charge(ctx, charge)
	return out, cmp.Or(err, failed)
}

func (p pausingProvider) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	if err := p.c.stop(p.a, atProvider); err != nil {
		return gateway.Outcome{}, err
	}
	return p.scripted.Lookup(ctx, id)
}

func (p pausingProvider) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	if err := p.c.stop(p.a, atProvider); err != nil {
		return gateway.Outcome{}, err
	}
	return p.scripted.Find(ctx, id)
}

func (p pausingProvider) Cancel(ctx context.Context, cancel gateway.Cancel) (gateway.Outcome, error) {
	err := p.c.stop(p.a, atProvider)
	if errors.Is(err, errDied) {
		return gateway.Outcome{}, err
	}
	out, failed := p.scripted.Cancel(ctx, cancel)
	return out, cmp.Or(err, failed)
}

// result is the result of an actor in words.
func (c *trial) result(err error) string {
	switch {
	case errors.Is(err, errDied):
		return "died"
	case errors.Is(err, payment.ErrUnavailable):
		c.spoiled = true
	}
	return answered(err)
}

// add adds an actor in a process of its own.
func (c *trial) add(name string, ready func() bool, run func(a *actor, s *service) error) {
	process := 0
	for _, a := range c.actors {
		process = max(process, a.process+1)
	}
	c.actors = append(c.actors, &actor{
		name: name, process: process, ready: ready, stage: idle, resume: make(chan error), gone: make(chan struct{}),
		run: func(a *actor) string { return c.result(run(a, c.service(a))) },
	})
}

// outside adds an event outside of paylatch, a single step.
func (c *trial) outside(name string, ready func() bool, run func()) {
	c.actors = append(c.actors, &actor{
		name: name, process: -1, ready: ready, stage: idle, resume: make(chan error), gone: make(chan struct{}),
		run: func(*actor) string {
			run()
			return "happened"
		},
	})
}

// client adds a client that pays the order once. The provider treats the call as what says.
func (c *trial) client(name, request, what string) {
	c.add(name, nil, func(_ *actor, s *service) error {
		_, err := s.Pay(c.ctx, c.staff(), c.request("pay", "request-"+request), commands.Pay{
			OrderID: c.order, Details: gateway.Details{Token: "A" + request + " " + what}, Capture: payment.CaptureAutomatic,
		})
		return err
	})
}

// webhook adds the delivery of a webhook, once the provider has it.
func (c *trial) webhook(name, of string) {
	find := func() *notice {
		for _, n := range c.p.notices {
			if n.name == of {
				return n
			}
		}
		return nil
	}
	c.add(name, func() bool { return find() != nil }, func(_ *actor, s *service) error {
		return c.deliver(s, find())
	})
}

// deliver delivers a webhook. Once it is acknowledged it must be on disk.
func (c *trial) deliver(s *service, n *notice) error {
	all := received([]byte("{}"), n.event)
	all[0].Account = c.account
	verdicts, err := s.Intake(c.ctx, all)
	if err != nil {
		return err
	}
	var stored bool
	if err := c.db.QueryRow(c.ctx, "SELECT EXISTS (SELECT FROM provider_events WHERE provider_event_id = $1)", n.event.ID).Scan(&stored); err != nil {
		return err
	}
	if !stored {
		c.wrong = "the webhook " + n.name + " is acknowledged and not on disk"
	}
	n.verdict = verdicts[0]
	return nil
}

// leases adds the end of all leases. A transaction that stays open for so long is ended by the database.
func (c *trial) leases() {
	c.outside("time", func() bool {
		return !slices.ContainsFunc(c.actors, func(a *actor) bool { return a.inside || a.stage == blocked })
	}, func() {
		c.passed = true
		c.pass(lease + time.Second)
	})
}

// worker adds a round of the worker, once the leases are over: it takes over what others have left.
func (c *trial) worker() {
	c.add("worker", func() bool { return c.passed }, func(_ *actor, s *service) error {
		due, err := s.DueOperations(c.ctx, c.account, 10)
		for _, o := range due {
			if _, failed := s.Execute(c.ctx, o, byTest); failed != nil && !errors.Is(failed, payment.ErrBusy) {
				err = errors.Join(err, failed)
			}
		}
		return err
	})
}

// lateMoney adds that the provider takes the money of a payment that it had declined.
func (c *trial) lateMoney(deal string) {
	c.outside("late money", func() bool {
		d := c.p.of(deal)
		return d != nil && d.over && !d.charged()
	}, func() { c.p.take(c.p.of(deal)) })
}

// customer adds a customer's payment on the provider's page. A further one is made in another tab of it.
func (c *trial) customer(name, deal string, further bool) {
	c.outside(name, func() bool {
		d := c.p.of(deal)
		return d != nil && d.charged() == further
	}, func() {
		d := c.p.of(deal)
		if further {
			d.second = c.p.another(d, webhooks.KindSucceeded)
			return
		}
		c.p.take(d)
	})
}

func (c *trial) noticeIDs() []string {
	ids := []string{}
	for _, n := range c.p.notices {
		ids = append(ids, n.event.ID)
	}
	return ids
}

// pass moves all clocks on.
func (c *trial) pass(by time.Duration) {
	c.p.mu.Lock()
	c.p.ahead += by
	c.p.mu.Unlock()
	if err := moveTimes(c.ctx, c.db, by, []payment.OrderID{c.order}, c.user, c.noticeIDs()); err != nil {
		c.wrong = err.Error()
	}
}
