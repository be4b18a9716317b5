package payment_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// poisoned is a store in which what moves the attempt of one order panics, as a fault in
// what decides would.
type poisoned struct {
	payment.Store

	order payment.OrderID
	armed atomic.Bool
}

func (s *poisoned) InTx(ctx context.Context, fn func(context.Context, payment.Tx) error) error {
	return s.Store.InTx(ctx, func(ctx context.Context, tx payment.Tx) error { return fn(ctx, poisonedTx{tx, s}) })
}

type poisonedTx struct {
	payment.Tx

	store *poisoned
}

func (tx poisonedTx) SaveChanges(ctx context.Context, changes []payment.Change) error {
	for _, c := range changes {
		if tx.store.armed.Load() && c.Attempt.OrderID == tx.store.order && len(c.Transitions) > 0 {
			panic("poison")
		}
	}
	return tx.Tx.SaveChanges(ctx, changes)
}

func poison(t *testing.T) (*rig, *poisoned) {
	t.Helper()
	store := &poisoned{order: "A-0"}
	return newRig(t, setup{silent: true, store: func(s payment.Store) payment.Store {
		store.Store = s
		return store
	}}), store
}

func TestPanicIsOneItems(t *testing.T) {
	t.Parallel()
	t.Run("webhook", func(t *testing.T) {
		t.Parallel()
		r, store := poison(t)
		events := make([]webhooks.Event, 10)
		for i := range events {
			p := r.paid(t, payment.OrderID(fmt.Sprintf("A-%d", i)), "tok_never")
			events[i] = event(webhooks.KindSucceeded, p.ID.String())
			events[i].ID = fmt.Sprintf("evt-%d", i)
		}
		store.armed.Store(true)
		verdicts := r.tell(t, events...)
		require.Equal(t, payment.Deferred, verdicts[0], "kept for a person")
		for _, v := range verdicts[1:] {
			require.Equal(t, fsm.Applied, v)
		}
		require.Equal(t, []string{"needs_review evt-0"}, rows[string](t, r, `SELECT kind || ' ' || provider_event_id FROM discrepancies`))
	})

	t.Run("answer", func(t *testing.T) {
		t.Parallel()
		r, store := poison(t)
		store.armed.Store(true)
		r.order(t, "A-0")
		r.order(t, "A-1")
		_, err := try(t.Context(), r.Service, "A-0", "first-key", "tok_success")
		thrown := (*payment.PanicError)(nil)
		require.ErrorAs(t, err, &thrown, "for the log")
		require.Equal(t, fsm.Succeeded, r.pay(t, "A-1", "first-key", "tok_success").State)
		require.Equal(t, []string{"needs_review A-0"}, rows[string](t, r, `SELECT kind || ' ' || order_id FROM discrepancies`))
		require.Equal(t, []bool{true}, rows[bool](t, r,
			`SELECT lease_until IS NULL AND next_check_at > now() FROM payment_attempts WHERE order_id = 'A-0'`), "asked about again, not at once")

		store.armed.Store(false)
		id := rows[string](t, r, `SELECT attempt_id::text FROM payment_attempts WHERE order_id = 'A-0'`)[0]
		require.Equal(t, fsm.Succeeded, r.recheck(t, payment.AttemptID(uuid.MustParse(id))).State, "once the fault is mended")
		require.Len(t, r.ledger(t), 2)
	})

	t.Run("refund", func(t *testing.T) {
		t.Parallel()
		r, store := poison(t)
		p := r.paid(t, "A-0", "tok_success")
		other := r.paid(t, "A-1", "tok_success")
		store.armed.Store(true)
		_, err := r.Refund(t.Context(), shop, request("refund", "refund-1", ""), payment.CreateRefund{AttemptID: p.ID})
		thrown := (*payment.PanicError)(nil)
		require.ErrorAs(t, err, &thrown)
		require.Equal(t, fsm.RefundSucceeded, r.refund(t, other.ID, "refund-2").State)
		require.Equal(t, []string{"needs_review A-0"}, rows[string](t, r, `SELECT kind || ' ' || order_id FROM discrepancies`))
	})
}
