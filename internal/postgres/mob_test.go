package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/webhooks"
)

// mob is everything that may happen to a few orders, at once, in two replicas.
type mob struct {
	t        *testing.T
	replicas [2]*payment.Service
	actor    payment.Actor
	keys     atomic.Int64
	events   atomic.Int64

	mu       sync.Mutex
	attempts []payment.Attempt
	acked    []string
	outcomes map[string]int
	wrong    []error
}

// The mob crowds on so many orders at a time, and turns to the next ones after
// so many pays.
const (
	crowd   = 3
	moveOn  = 40
	hurried = 40 * time.Millisecond
)

func newMob(t *testing.T, stores ...*postgres.Store) *mob {
	t.Helper()
	m := &mob{t: t, actor: payment.Actor{Subject: "u1", Roles: []payment.Role{payment.RoleCustomer}}, outcomes: map[string]int{}}
	for i := range m.replicas {
		m.replicas[i] = payment.New(payment.Options{
			Store: stores[i], Accounts: map[string]payment.Account{"acc": {Provider: moody{}}}, DefaultAccount: "acc",
			Wait: hurried, Lease: hurried, ProviderTimeout: hurried, RecheckAfter: hurried, Now: time.Now,
		})
	}
	return m
}

// run lets the mob loose until ctx ends.
func (m *mob) run(ctx context.Context) {
	var services, actors sync.WaitGroup
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	for _, s := range m.replicas {
		services.Go(func() { m.note("run", s.Run(running)) })
		for _, act := range []func(*payment.Service) error{m.pay, m.pay, m.confirm, m.cancel, m.cancelOrder, m.recheck, m.reconcile, m.retry} {
			actors.Go(func() {
				for ctx.Err() == nil {
					_ = act(s)
				}
			})
		}
	}
	actors.Go(func() {
		for ctx.Err() == nil {
			m.deliver()
		}
	})
	actors.Wait()
	stop()
	services.Wait()
}

// refusals are the errors that the use cases document.
var refusals = []error{
	payment.ErrOrderPaid, payment.ErrOrderCancelled, payment.ErrBusy, payment.ErrNotCapturable, payment.ErrAttemptFinal,
	idempotency.ErrInProgress,
}

// note counts an outcome and keeps an error that nobody may see.
func (m *mob) note(what string, err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var live *payment.InProgressError
	var replay *idempotency.ReplayError
	switch {
	case err == nil:
		m.outcomes[what]++
	case errors.As(err, &live), errors.As(err, &replay), slices.ContainsFunc(refusals, func(r error) bool { return errors.Is(err, r) }):
		m.outcomes[what+" refused"]++
	default:
		m.wrong = append(m.wrong, fmt.Errorf("%s: %w", what, err))
	}
	return err
}

// order names one of those that are crowded on now.
func (m *mob) order() payment.OrderID {
	return payment.OrderID(fmt.Sprintf("o%d", m.keys.Load()/moveOn+rand.Int64N(crowd)))
}

// request is a new one, or the last one again.
func (m *mob) request(endpoint string) idempotency.Request {
	n := m.keys.Load()
	if rand.N(4) > 0 {
		n = m.keys.Add(1)
	}
	return idempotency.Request{
		User: "u1", Endpoint: endpoint, Key: idempotency.Key(fmt.Sprintf("key-%08d", n)),
		Refusal: func(error) idempotency.Answer { return idempotency.Answer{Status: 409} },
	}
}

// some returns up to n of the latest attempts, in the order of their making.
func (m *mob) some(n int) []payment.Attempt {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.attempts[max(0, len(m.attempts)-n):])
}

func (m *mob) pay(s *payment.Service) error {
	id := m.order()
	_, _, err := s.CreateOrder(m.t.Context(), payment.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}, idempotency.Request{User: "u1", Endpoint: "create", Key: idempotency.Key("order-" + id + "-key")},
		payment.CreateOrder{OrderID: id, Money: payment.Money{Minor: 1000, Currency: "EUR"}})
	if m.note("create", err) != nil {
		return err
	}
	p, err := s.Pay(m.t.Context(), m.actor, m.request("pay "+string(id)), payment.Pay{OrderID: id, Token: "t", Capture: payment.CaptureManual})
	if err == nil {
		m.mu.Lock()
		m.attempts = append(m.attempts, p.Attempt)
		m.mu.Unlock()
	}
	return m.note("pay", err)
}

func (m *mob) confirm(s *payment.Service) error {
	return m.each("confirm", func(a payment.Attempt) error {
		_, err := s.Confirm(m.t.Context(), m.actor, m.request("confirm "+a.ID.String()), payment.Confirm{AttemptID: a.ID})
		return err
	})
}

func (m *mob) cancel(s *payment.Service) error {
	return m.each("cancel", func(a payment.Attempt) error {
		_, err := s.Cancel(m.t.Context(), m.actor, m.request("cancel "+a.ID.String()), a.ID)
		return err
	})
}

func (m *mob) cancelOrder(s *payment.Service) error {
	<-time.After(hurried)
	return m.each("cancel order", func(a payment.Attempt) error {
		_, _, err := s.CancelOrder(m.t.Context(), m.actor, m.request("cancel "+string(a.OrderID)), a.OrderID)
		return err
	})
}

func (m *mob) recheck(s *payment.Service) error {
	return m.each("recheck", func(a payment.Attempt) error {
		_, err := s.Recheck(m.t.Context(), a.ID, payment.Cause{Kind: payment.CausePerson, ID: "p"})
		return err
	})
}

func (m *mob) reconcile(s *payment.Service) error {
	due, err := s.Due(m.t.Context(), "acc", 10)
	_ = m.note("due", err)
	for _, id := range due {
		_, err := s.Recheck(m.t.Context(), id, payment.Cause{Kind: payment.CauseCheck, ID: "c"})
		_ = m.note("reconcile", err)
	}
	<-time.After(time.Millisecond)
	return err
}

func (m *mob) retry(s *payment.Service) error {
	_, err := s.RetryParked(m.t.Context(), 50)
	<-time.After(time.Millisecond)
	return m.note("retry", err)
}

// each does something to one of the attempts.
func (m *mob) each(what string, do func(a payment.Attempt) error) error {
	some := m.some(crowd)
	if len(some) == 0 {
		<-time.After(time.Millisecond)
		return nil
	}
	return m.note(what, do(some[rand.N(len(some))]))
}

// deliver sends events of many attempts to both replicas at once, to one of them
// in the opposite order.
func (m *mob) deliver() {
	var batch []payment.Received
	for _, a := range m.some(4 * crowd) {
		batch = append(batch, m.event(a), m.event(a))
	}
	if len(batch) == 0 {
		<-time.After(time.Millisecond)
		return
	}
	rand.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
	var wg sync.WaitGroup
	for i, s := range m.replicas {
		mine := slices.Clone(batch)
		if i > 0 {
			slices.Reverse(mine)
		}
		// Another content under a known id is a discrepancy of its own.
		mine = append(mine, changed(mine[0]), changed(mine[len(mine)-1]))
		wg.Go(func() {
			_, err := s.Intake(m.t.Context(), mine)
			if m.note("intake", err) != nil {
				return
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			for _, r := range mine {
				m.acked = append(m.acked, r.Event.ID)
			}
		})
	}
	wg.Wait()
}

// event is news of an attempt, by names of which some are known later, or are
// those of the order's other attempts, too.
func (m *mob) event(a payment.Attempt) payment.Received {
	kinds := []webhooks.Kind{webhooks.KindProcessing, webhooks.KindAuthorized, webhooks.KindSoftFailed, webhooks.KindFailed, webhooks.KindActionRequired}
	if rand.N(30) == 0 {
		kinds = []webhooks.Kind{webhooks.KindSucceeded} // often late, with another attempt beside it
	}
	e := webhooks.Event{
		ID: fmt.Sprintf("evt-%d", m.events.Add(1)), IDSource: webhooks.Native, Type: "t", Kind: kinds[rand.N(len(kinds))],
		References: shuffled("pp-"+a.ID.String(), "next-"+a.ID.String(), "cart-"+string(a.OrderID), "sess-"+string(a.OrderID)),
	}
	if rand.N(3) == 0 {
		e.References = []string{"next-" + a.ID.String()}
	}
	return payment.Received{Account: "acc", Event: e, Headers: map[string]string{}, Body: []byte("{}"), At: time.Now()}
}

func changed(r payment.Received) payment.Received {
	r.Event.Kind = webhooks.KindDisputed
	return r
}

func shuffled(names ...string) []string {
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

// moody is a provider that answers anything, at times after the lease.
type moody struct{ payment.Provider }

func (moody) Capabilities() payment.Capabilities {
	return payment.Capabilities{Find: true, Capture: true, Cancel: true}
}

func (moody) TokenKind(string) payment.TokenKind { return payment.TokenSingleUse }

func (moody) Charge(_ context.Context, c payment.Charge) (payment.Outcome, error) {
	if rand.N(8) == 0 {
		return payment.Outcome{}, errors.New("timed out")
	}
	return mood("pp-"+c.Attempt.String(), fsm.NewsProcessing, fsm.NewsAuthorized, fsm.NewsAuthorized, fsm.NewsFailed,
		"next-"+c.Attempt.String(), "cart-"+string(c.Order), "sess-"+string(c.Order)), nil
}

func (moody) Lookup(_ context.Context, id string) (payment.Outcome, error) {
	return mood(id, fsm.NewsProcessing, fsm.NewsAuthorized, fsm.NewsFailed, fsm.NewsFailed), nil
}

func (moody) Find(_ context.Context, id payment.AttemptID) (payment.Outcome, error) {
	return mood("pp-"+id.String(), fsm.NewsProcessing, fsm.NewsAuthorized, fsm.NewsFailed, fsm.NewsFailed), nil
}

func (moody) Capture(_ context.Context, c payment.Capture) (payment.Outcome, error) {
	return mood(c.ProviderPaymentID, fsm.NewsSucceeded, fsm.NewsFailed, fsm.NewsFailed, fsm.NewsAuthorized), nil
}

func (moody) Cancel(_ context.Context, c payment.Cancel) (payment.Outcome, error) {
	return mood(c.ProviderPaymentID, fsm.NewsFailed, fsm.NewsFailed, fsm.NewsProcessing, fsm.NewsAuthorized), nil
}

func mood(id string, a, b, c, d fsm.News, names ...string) payment.Outcome {
	<-time.After(rand.N(hurried / 4))
	if rand.N(20) == 0 {
		<-time.After(hurried)
	}
	return payment.Outcome{News: []fsm.News{a, b, c, d}[rand.N(4)], ProviderPaymentID: id, References: shuffled(names...)}
}

// deadlocks counts those that the database has seen, once all other sessions
// have ended and told theirs.
func deadlocks(t *testing.T, conn *pgx.Conn) int {
	t.Helper()
	require.Eventually(t, func() bool {
		return one[bool](t, conn, `SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = current_database()`)
	}, soon, 10*time.Millisecond)
	return one[int](t, conn, `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`)
}
