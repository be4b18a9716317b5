package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// halting is a store with transactions that halt where they have looked for attempts, and before
// they write them.
type halting struct{ looked, writes func() }

func (h *halting) on(of store) store {
	return spyStore{store: of, wrap: func(tx allTx) allTx { return haltingTx{tx, h} }}
}

type haltingTx struct {
	allTx

	of *halting
}

func (t haltingTx) AttemptsByReference(ctx context.Context, refs []payment.Reference) ([]intake.Found, error) {
	found, err := t.allTx.AttemptsByReference(ctx, refs)
	if t.of.looked != nil {
		t.of.looked()
	}
	return found, err
}

func (t haltingTx) Save(ctx context.Context, w changeset.Writes) error {
	if t.of.writes != nil {
		t.of.writes()
	}
	return t.allTx.Save(ctx, w)
}

// halt makes a function that waits for goOn at its nth call, and closes reached then.
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

// A worker that tries a parked event holds it locked when the payment's name comes, and has
// looked before: the transaction that brings the name goes on without the event, which would
// wait for its next try. So the worker looks again, until the event is free.
func parkLockedWhenItsNameComes(t *testing.T) {
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
	look := &answering{lookup: says(fsm.EventSucceeded)}
	p := &spy{charge: func(_ context.Context, _ gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		out, err := send()
		out.ProviderPaymentID = "ch_1"
		return out, err
	}}
	r := newEnv(t, setup{
		silent: true, provider: func(of gateway.Provider) gateway.Provider { return p.on(look.on(of)) },
		store: payer.on,
	})
	stops := &halting{}
	var passes func(time.Duration)
	worker := r.another(t, func(o *options) { o.Store, passes = stops.on(o.Store), stopped(o) })
	// round is a round of the worker, a moment after the last one.
	round := func() error {
		passes(time.Second)
		_, err := retryParked(t.Context(), worker, 10)
		return err
	}
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
	go func() { tried <- round() }()
	<-isLooking

	writes, isWriting, mayWrite := halt(1)
	payer.writes = writes
	paid := make(chan error, 1)
	go func() {
		_, err := try(t.Context(), r.service, "A-1", "first-key", "tok_never")
		paid <- err
	}()
	<-isWriting
	if slow {
		close(mayPark)
		require.NoError(t, <-tried)
		require.NoError(t, round())
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
		return round() == nil && rows[string](t, r, "SELECT status::text FROM payment_attempts")[0] == "succeeded"
	}, waitFor, tick)
}
