package payment_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// halting is a store whose transactions halt where they have looked for attempts,
// and before they write them.
type halting struct {
	payment.Store

	looked, writes func()
}

func (s *halting) InTx(ctx context.Context, fn func(context.Context, payment.Tx) error) error {
	return s.Store.InTx(ctx, func(ctx context.Context, tx payment.Tx) error { return fn(ctx, haltingTx{tx, s}) })
}

type haltingTx struct {
	payment.Tx

	of *halting
}

func (t haltingTx) AttemptsByReference(ctx context.Context, refs []payment.Reference) ([]payment.Found, error) {
	found, err := t.Tx.AttemptsByReference(ctx, refs)
	if t.of.looked != nil {
		t.of.looked()
	}
	return found, err
}

func (t haltingTx) SaveChanges(ctx context.Context, changes []payment.Change) error {
	if t.of.writes != nil {
		t.of.writes()
	}
	return t.Tx.SaveChanges(ctx, changes)
}

// halt is a place where somebody waits the nth time; reached says that he does.
func halt(nth int32) (at func(), reached, goOn chan struct{}) {
	reached, goOn = make(chan struct{}), make(chan struct{})
	var times atomic.Int32
	return func() {
		if times.Add(1) == nth {
			close(reached)
			<-goOn
		}
	}, reached, goOn
}

// A worker that tries a parked event holds it locked when the payment's name comes,
// and has looked before: who brings the name goes on without the event, which would
// wait for its next try. So the worker looks again, until whoever was at it is done.
func TestAnEventThatIsLockedWhenItsNameComesIsNotForgotten(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]bool{"the name is there before the worker is done": false, "the name comes after": true} {
		for _, kind := range []webhooks.Kind{webhooks.KindSucceeded, webhooks.KindNotice} {
			t.Run(name+", "+string(kind), func(t *testing.T) {
				t.Parallel()
				testLockedEvent(t, kind, slow)
			})
		}
	}
}

func testLockedEvent(t *testing.T, kind webhooks.Kind, slow bool) {
	t.Helper()
	payer := &halting{}
	look := &answering{lookup: says(fsm.NewsSucceeded)}
	p := &tapped{charge: func(_ context.Context, _ payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error) {
		out, err := send()
		out.ProviderPaymentID = "ch_1"
		return out, err
	}}
	r := newRig(t, setup{
		silent: true, provider: func(of payment.Provider) payment.Provider { return p.on(look.on(of)) },
		store: func(of payment.Store) payment.Store {
			payer.Store = of
			return payer
		},
	})
	stops := &halting{Store: r.store}
	worker := r.another(t, func(o *payment.Options) { o.Store = stops })
	e, last := event(kind, "ch_1"), int32(1)
	if kind == webhooks.KindNotice {
		// It is looked for again once it is fetched.
		e, last = hint(kind, "ch_1"), 2
	}
	r.tell(t, e)
	r.exec(t, "UPDATE provider_events SET tries = 10, next_try_at = now()")

	r.order(t, "A-1")
	looked, isLooking, mayPark := halt(last)
	stops.looked = looked
	tried := make(chan error, 1)
	go func() {
		_, err := retryParked(t.Context(), worker, 10)
		tried <- err
	}()
	<-isLooking

	writes, isWriting, mayWrite := halt(1)
	payer.writes = writes
	paid := make(chan error, 1)
	go func() {
		_, err := try(t.Context(), r.Service, "A-1", "first-key", "tok_never")
		paid <- err
	}()
	<-isWriting
	if slow {
		close(mayPark)
		require.NoError(t, <-tried)
		_, err := retryParked(t.Context(), worker, 10)
		require.NoError(t, err)
		close(mayWrite)
		require.NoError(t, <-paid)
	} else {
		close(mayWrite)
		require.NoError(t, <-paid)
		close(mayPark)
		require.NoError(t, <-tried)
	}
	require.Equal(t, []bool{true}, rows[bool](t, r, "SELECT next_try_at > now() + interval '30 minutes' FROM provider_events"))
	require.Eventually(t, func() bool {
		_, err := retryParked(t.Context(), worker, 10)
		return err == nil && rows[string](t, r, "SELECT status::text FROM payment_attempts")[0] == "succeeded"
	}, patience, tick)
}
