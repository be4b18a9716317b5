package postgres_test

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/testdb"
	"github.com/paylatch/paylatch/webhooks"
)

// trips counts how often a client has said something to a server that it had heard from
// since it said something before.
type trips struct {
	url    string
	count  atomic.Int64
	spoken atomic.Bool
}

func countTrips(t *testing.T, dsn string) *trips {
	t.Helper()
	r := &trips{}
	r.url = proxy(t, dsn, "&pool_max_conns=1", func(client, server net.Conn) (toClient, toServer io.Writer) {
		return turning{client, r, false}, turning{server, r, true}
	})
	return r
}

type turning struct {
	net.Conn

	trips  *trips
	client bool
}

func (c turning) Write(b []byte) (int, error) {
	if c.trips.spoken.Swap(c.client) != c.client && c.client {
		c.trips.count.Add(1)
	}
	return c.Conn.Write(b)
}

// of is how many round trips something takes.
func (r *trips) of(do func()) int64 {
	before := r.count.Load()
	do()
	return r.count.Load() - before
}

// TestOnlyLateMoneyTakesATripMore takes in a success, which costs two round trips, and a
// late one with another attempt that has to be cancelled for it, which costs three.
func TestOnlyLateMoneyTakesATripMore(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	r := countTrips(t, dsn)
	store := open(t, r.url)
	service := payment.New(payment.Options{
		Store: store, Accounts: map[string]payment.Account{"acc": {Provider: moody{}}}, Wait: time.Second, Lease: time.Minute,
		ProviderTimeout: time.Second, RecheckAfter: time.Minute, Now: time.Now,
	})
	running, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- service.Run(running) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	hear := func(kind webhooks.Kind, a payment.Attempt, want fsm.Verdict) int64 {
		e := webhooks.Event{
			ID: uuid.NewString(), IDSource: webhooks.Native, Type: "t", Kind: kind, References: []string{a.ID.String()},
			Money: &webhooks.Money{Minor: a.Money.Minor, Currency: string(a.Money.Currency)},
		}
		return r.of(func() {
			verdicts, err := service.Intake(t.Context(), []payment.Received{{Account: "acc", Event: e, Headers: map[string]string{}, Body: []byte("{}"), At: time.Now()}})
			require.NoError(t, err)
			require.Equal(t, []fsm.Verdict{want}, verdicts)
		})
	}
	for _, warm := range []bool{false, true} { // the statements are prepared by then
		first, paid := placed(t, store, payment.OrderID(uuid.NewString())), placed(t, store, payment.OrderID(uuid.NewString()))
		hear(webhooks.KindFailed, first, fsm.Applied)
		second := attempt(first.OrderID)
		second.RequestID = "pay-00000002"
		inTx(t, store, func(ctx context.Context, tx payment.Tx) error {
			return tx.AttemptsInsert(ctx, []payment.Attempt{second})
		})
		usual, late := hear(webhooks.KindSucceeded, paid, fsm.Applied), hear(webhooks.KindSucceeded, first, fsm.Conflict)
		there, err := store.Attempt(t.Context(), second.ID)
		require.NoError(t, err)
		require.Equal(t, payment.IntentCancel, there.Intent.Kind)
		if warm {
			require.EqualValues(t, 2, usual)
			require.EqualValues(t, 3, late)
		}
	}
}
