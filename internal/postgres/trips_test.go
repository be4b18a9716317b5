package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/dev/faults"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/webhooks"
)

// serves runs a service on one connection with a counter of its round trips.
func serves(t *testing.T, p gateway.Provider) (*faults.TCP, *postgres.Store, *engine.Engine) {
	t.Helper()
	way, url := faults.NewDatabase(t, testdb.New(t))
	store := enginetest.Store(t, testdb.With(t, url, "pool_max_conns", "1"))
	s := newService(store, p, timing{time.Minute, time.Minute, time.Minute, time.Minute})
	_, err := store.Keys().Refresh(t.Context())
	require.NoError(t, err)
	running, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Run(running) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	return way, store, s
}

// trips is how many round trips something takes.
func trips(way *faults.TCP, do func()) int64 {
	before := way.Trips()
	do()
	return way.Trips() - before
}

// TestOnlyLateMoneyTakesATripMore takes in a success, which costs two round trips, and a
// late one with another attempt that has to be cancelled for it, which costs three.
func TestOnlyLateMoneyTakesATripMore(t *testing.T) {
	t.Parallel()
	way, store, service := serves(t, flaky{})
	take := func(kind webhooks.Kind, a payment.Attempt, want fsm.Verdict) int64 {
		e := webhooks.Event{
			ID: uuid.NewString(), IDSource: webhooks.Native, Type: "t", Kind: kind, References: []string{a.ID.String()},
			Money: &webhooks.Money{Minor: a.Money.Minor, Currency: string(a.Money.Currency)},
		}
		return trips(way, func() {
			verdicts, err := service.Intake(t.Context(), []payment.ReceivedEvent{{Account: "acc", Event: e, Headers: map[string]string{}, Body: []byte("{}"), At: time.Now()}})
			require.NoError(t, err)
			require.Equal(t, []fsm.Verdict{want}, verdicts)
		})
	}
	for _, warm := range []bool{false, true} { // the statements are prepared by then
		first, paid := placed(t, store, payment.OrderID(uuid.NewString())), placed(t, store, payment.OrderID(uuid.NewString()))
		take(webhooks.KindFailed, first, fsm.Applied)
		second := attempt(first.OrderID)
		second.RequestID = "pay-00000002"
		inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
			return tx.AttemptsInsert(ctx, []payment.Attempt{second})
		})
		usual, late := take(webhooks.KindSucceeded, paid, fsm.Applied), take(webhooks.KindSucceeded, first, fsm.Conflict)
		inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
			there, _, err := tx.AttemptLock(ctx, second.ID)
			require.NotNil(t, there.OpenCancel())
			return err
		})
		if warm {
			require.EqualValues(t, 2, usual)
			require.EqualValues(t, 3, late)
		}
	}
}

// prompt is a provider that charges at once.
type prompt struct {
	gateway.Provider

	charging func()
}

func (prompt) Capabilities() payment.Capabilities {
	return payment.Capabilities{Lookup: payment.LookupByID, Identity: payment.IdentityOwn, CapturesSeen: true}
}

func (prompt) Accepts(gateway.Charge) error { return nil }

func (prompt) TokenKind(string) gateway.TokenKind { return gateway.TokenSingleUse }

func (prompt) Unseen(gateway.Details) (time.Duration, bool) { return 0, false }

func (p prompt) Charge(_ context.Context, c gateway.Charge) (gateway.Outcome, error) {
	p.charging()
	return gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: "pp-" + c.Attempt.String(), Money: &c.Money}, c.Permit.Check()
}

// TestPayTakesFiveTrips: one looks whether the request has an attempt, each commit takes
// two.
func TestPayTakesFiveTrips(t *testing.T) {
	t.Parallel()
	var charging func()
	way, store, service := serves(t, prompt{charging: func() { charging() }})
	for i, warm := range []bool{false, true} {
		id := payment.OrderID(uuid.NewString())
		inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
			_, err := tx.OrderInsert(ctx, order(id))
			return err
		})
		before, atCharge := way.Trips(), int64(0)
		charging = func() { atCharge = way.Trips() }
		req := idempotency.Request{User: "u1", Endpoint: "pay", Key: idempotency.Key(fmt.Sprintf("key-%08d", i))}
		reply, err := service.Pay(t.Context(), shop, req, commands.Pay{OrderID: id, Details: gateway.Details{Token: "t"}})
		require.NoError(t, err)
		require.True(t, reply.Succeeded())
		if warm {
			require.EqualValues(t, 3, atCharge-before, "up to the charge")
			require.EqualValues(t, 2, way.Trips()-atCharge, "after it")
		}
	}
}
