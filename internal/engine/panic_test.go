package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// poisoned is a store that panics when the attempt of one order moves, as a bug in a decision would.
type poisoned struct {
	order payment.OrderID
	armed atomic.Bool
}

type poisonedTx struct {
	allTx

	of *poisoned
}

func (tx poisonedTx) Save(ctx context.Context, w changeset.Writes) error {
	for _, c := range w.Attempts {
		if tx.of.armed.Load() && c.Attempt.OrderID == tx.of.order && len(c.Transitions) > 0 {
			panic("poison")
		}
	}
	return tx.allTx.Save(ctx, w)
}

func poison(t *testing.T) (*env, *poisoned) {
	t.Helper()
	p := &poisoned{order: "A-0"}
	return newEnv(t, setup{silent: true, store: func(s store) store {
		return spyStore{store: s, wrap: func(tx allTx) allTx { return poisonedTx{tx, p} }}
	}}), p
}

func TestPanic(t *testing.T) {
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
		require.Equal(t, payment.VerdictDeferred, verdicts[0], "kept for a person")
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
		_, err := try(t.Context(), r.service, "A-0", "first-key", "tok_success")
		thrown := (*payment.PanicError)(nil)
		require.ErrorAs(t, err, &thrown, "for the log")
		require.Equal(t, fsm.Succeeded, r.pay(t, "A-1", "first-key", "tok_success").State)
		require.Equal(t, []string{"needs_review A-0"}, rows[string](t, r, `SELECT kind || ' ' || order_id FROM discrepancies`))
		require.Equal(t, []bool{true}, rows[bool](t, r,
			`SELECT lease_until IS NULL AND next_at > created_at + interval '9 seconds' FROM operations WHERE order_id = 'A-0' AND open`), "asked about again, not at once")

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
		_, err := r.Refund(t.Context(), shop, request("refund", "refund-1", ""), commands.CreateRefund{AttemptID: p.ID})
		thrown := (*payment.PanicError)(nil)
		require.ErrorAs(t, err, &thrown)
		require.Equal(t, fsm.RefundSucceeded, r.refund(t, other.ID, "refund-2").State)
		require.Equal(t, []string{"needs_review A-0"}, rows[string](t, r, `SELECT kind || ' ' || order_id FROM discrepancies`))
	})
}
