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
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/webhooks"
)

// load is everything that may happen to a few orders, at once, in two replicas.
type load struct {
	t        *testing.T
	replicas [2]*engine.Engine
	actor    authz.Actor
	pace     time.Duration
	keys     atomic.Int64
	events   atomic.Int64

	mu       sync.Mutex
	attempts []payment.Attempt
	acked    []string
	outcomes map[string]int
	wrong    []error
}

// The load is on so many orders at a time, and on the next ones after so many pays.
const (
	orders = 3
	moveOn = 40
)

// newLoad returns a load whose calls, leases and waits last as long as its pace, or the load before with another pace.
func newLoad(t *testing.T, l *load, pace time.Duration, stores ...*postgres.Store) *load {
	t.Helper()
	if l == nil {
		l = &load{t: t, actor: authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}, outcomes: map[string]int{}}
	}
	l.pace = pace
	for i := range l.replicas {
		l.replicas[i] = newService(stores[i], flaky{pace: pace}, timing{pace, pace, pace, pace})
	}
	return l
}

// run goes on until ctx ends.
func (l *load) run(ctx context.Context) {
	var services, actors sync.WaitGroup
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	for _, s := range l.replicas {
		services.Go(func() { l.note("run", s.Run(running)) })
		for _, act := range []func(*engine.Engine) error{l.pay, l.pay, l.confirm, l.cancel, l.cancelOrder, l.recheck, l.reconcile, l.retry} {
			actors.Go(func() {
				for ctx.Err() == nil {
					_ = act(s)
				}
			})
		}
	}
	actors.Go(func() {
		for ctx.Err() == nil {
			l.deliver()
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

// note counts an outcome and keeps an error that no caller may get.
func (l *load) note(what string, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var live *payment.InProgressError
	var replay *idempotency.ReplayError
	switch {
	case err == nil:
		l.outcomes[what]++
	case errors.As(err, &live), errors.As(err, &replay), slices.ContainsFunc(refusals, func(r error) bool { return errors.Is(err, r) }):
		l.outcomes[what+" refused"]++
	default:
		l.wrong = append(l.wrong, fmt.Errorf("%s: %w", what, err))
	}
	return err
}

// order names an existing order.
func (l *load) order() payment.OrderID {
	return payment.OrderID(fmt.Sprintf("o%d", l.keys.Load()/moveOn+rand.Int64N(orders)))
}

// request is a new one, or the last one again.
func (l *load) request(endpoint string) idempotency.Request {
	n := l.keys.Load()
	if rand.N(4) > 0 {
		n = l.keys.Add(1)
	}
	return idempotency.Request{
		User: "u1", Endpoint: endpoint, Key: idempotency.Key(fmt.Sprintf("key-%08d", n)),
		Refusal: func(error) idempotency.Response { return idempotency.Response{Status: 409} },
	}
}

// some returns up to n of the latest attempts, in the order of their making.
func (l *load) some(n int) []payment.Attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.attempts[max(0, len(l.attempts)-n):])
}

func (l *load) pay(s *engine.Engine) error {
	id := l.order()
	_, _, err := s.CreateOrder(l.t.Context(), authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}, idempotency.Request{User: "u1", Endpoint: "create", Key: idempotency.Key("order-" + id + "-key")},
		commands.CreateOrder{OrderID: id, Money: payment.Money{Minor: 1000, Currency: "EUR"}})
	if l.note("create", err) != nil {
		return err
	}
	p, err := s.Pay(l.t.Context(), l.actor, l.request("pay "+string(id)), commands.Pay{OrderID: id, Details: gateway.Details{Token: "t"}, Capture: payment.CaptureManual})
	if err == nil {
		l.mu.Lock()
		l.attempts = append(l.attempts, p.Attempt)
		l.mu.Unlock()
	}
	return l.note("pay", err)
}

func (l *load) confirm(s *engine.Engine) error {
	return l.each("confirm", func(a payment.Attempt) error {
		_, err := s.Confirm(l.t.Context(), l.actor, l.request("confirm "+a.ID.String()), commands.Confirm{AttemptID: a.ID})
		return err
	})
}

func (l *load) cancel(s *engine.Engine) error {
	return l.each("cancel", func(a payment.Attempt) error {
		_, err := s.Cancel(l.t.Context(), l.actor, l.request("cancel "+a.ID.String()), a.ID)
		return err
	})
}

func (l *load) cancelOrder(s *engine.Engine) error {
	<-time.After(l.pace)
	return l.each("cancel order", func(a payment.Attempt) error {
		_, _, err := s.CancelOrder(l.t.Context(), l.actor, l.request("cancel "+string(a.OrderID)), a.OrderID)
		return err
	})
}

func (l *load) recheck(s *engine.Engine) error {
	return l.each("recheck", func(a payment.Attempt) error {
		_, err := s.Recheck(l.t.Context(), a.ID, payment.Cause{Kind: payment.CausePerson, ID: "p"})
		return err
	})
}

func (l *load) reconcile(s *engine.Engine) error {
	due, err := s.Due(l.t.Context(), "acc", 10)
	_ = l.note("due", err)
	for _, name := range due {
		_, err := s.Execute(l.t.Context(), name, payment.Cause{Kind: payment.CauseCheck, ID: "c"})
		_ = l.note("reconcile", err)
	}
	<-time.After(time.Millisecond)
	return err
}

func (l *load) retry(s *engine.Engine) error {
	_, err := s.RetryParked(l.t.Context(), 50)
	<-time.After(time.Millisecond)
	return l.note("retry", err)
}

// each runs do for one of the attempts.
func (l *load) each(what string, do func(a payment.Attempt) error) error {
	some := l.some(orders)
	if len(some) == 0 {
		<-time.After(time.Millisecond)
		return nil
	}
	return l.note(what, do(some[rand.N(len(some))]))
}

// deliver sends events of many attempts to both replicas at once, to one of them in the opposite order.
func (l *load) deliver() {
	var batch []payment.ReceivedEvent
	for _, a := range l.some(4 * orders) {
		batch = append(batch, l.event(a), l.event(a))
	}
	if len(batch) == 0 {
		<-time.After(time.Millisecond)
		return
	}
	rand.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
	var wg sync.WaitGroup
	for i, s := range l.replicas {
		mine := slices.Clone(batch)
		if i > 0 {
			slices.Reverse(mine)
		}
		// Another content under an existing id is a discrepancy of its own.
		mine = append(mine, changed(mine[0]), changed(mine[len(mine)-1]))
		wg.Go(func() {
			_, err := s.Intake(l.t.Context(), mine)
			if l.note("intake", err) != nil {
				return
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			for _, r := range mine {
				l.acked = append(l.acked, r.Event.ID)
			}
		})
	}
	wg.Wait()
}

// event is a report of an attempt, by several names. Some names are added later, or belong to the order's other
// attempts, too.
func (l *load) event(a payment.Attempt) payment.ReceivedEvent {
	kinds := []webhooks.Kind{webhooks.KindProcessing, webhooks.KindAuthorized, webhooks.KindSoftFailed, webhooks.KindFailed, webhooks.KindActionRequired}
	if rand.N(30) == 0 {
		kinds = []webhooks.Kind{webhooks.KindSucceeded} // often late, with another attempt beside it
	}
	e := webhooks.Event{
		ID: fmt.Sprintf("evt-%d", l.events.Add(1)), IDSource: webhooks.Native, Type: "t", Kind: kinds[rand.N(len(kinds))],
		References: shuffled("pp-"+a.ID.String(), "next-"+a.ID.String(), "cart-"+string(a.OrderID), "sess-"+string(a.OrderID)),
	}
	if rand.N(3) == 0 {
		e.References = []string{"next-" + a.ID.String()}
	}
	return payment.ReceivedEvent{Account: "acc", Event: e, Headers: map[string]string{}, Body: []byte("{}"), At: time.Now()}
}

func changed(r payment.ReceivedEvent) payment.ReceivedEvent {
	r.Event.Kind = webhooks.KindDisputed
	return r
}

func shuffled(names ...string) []string {
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

// flaky is a provider with any response, at times after the lease.
type flaky struct {
	gateway.Provider

	pace time.Duration
}

func (flaky) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		Lookup: payment.LookupByReference, Identity: payment.IdentityOwn, Captures: payment.CapturesOnce, CapturesSeen: true, Cancels: payment.CancelsByID,
	}
}

func (flaky) Accepts(gateway.Charge) error { return nil }

func (flaky) TokenKind(string) gateway.TokenKind { return gateway.TokenSingleUse }

func (flaky) Unseen(gateway.Details) (time.Duration, bool) { return 0, false }

func (f flaky) Charge(_ context.Context, c gateway.Charge) (gateway.Outcome, error) {
	if rand.N(8) == 0 {
		return gateway.Outcome{}, errors.New("timed out")
	}
	return f.anyOutcome("pp-"+c.Attempt.String(), fsm.EventProcessing, fsm.EventAuthorized, fsm.EventAuthorized, fsm.EventFailed,
		"next-"+c.Attempt.String(), "cart-"+string(c.Order), "sess-"+string(c.Order)), nil
}

func (f flaky) Lookup(_ context.Context, id string) (gateway.Outcome, error) {
	return f.anyOutcome(id, fsm.EventProcessing, fsm.EventAuthorized, fsm.EventFailed, fsm.EventFailed), nil
}

func (f flaky) Find(_ context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	return f.anyOutcome("pp-"+id.String(), fsm.EventProcessing, fsm.EventAuthorized, fsm.EventFailed, fsm.EventFailed), nil
}

func (f flaky) Capture(_ context.Context, c gateway.Capture) (gateway.Outcome, error) {
	return f.anyOutcome(c.ProviderPaymentID, fsm.EventSucceeded, fsm.EventFailed, fsm.EventFailed, fsm.EventAuthorized), nil
}

func (f flaky) Cancel(_ context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	return f.anyOutcome(c.ProviderPaymentID, fsm.EventFailed, fsm.EventFailed, fsm.EventProcessing, fsm.EventAuthorized), nil
}

func (f flaky) anyOutcome(id string, a, b, c, d fsm.Event, names ...string) gateway.Outcome {
	<-time.After(rand.N(f.pace/4 + 1))
	if rand.N(20) == 0 {
		<-time.After(f.pace)
	}
	return gateway.Outcome{Event: []fsm.Event{a, b, c, d}[rand.N(4)], ProviderPaymentID: id, References: shuffled(names...)}
}

// deadlocks counts the deadlocks that the database has seen, once all other sessions have ended and reported theirs.
func deadlocks(t *testing.T, conn *pgx.Conn) int {
	t.Helper()
	require.Eventually(t, func() bool {
		return testdb.One[bool](t, conn, `SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = current_database()`)
	}, soon, 10*time.Millisecond)
	return testdb.One[int](t, conn, `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`)
}
