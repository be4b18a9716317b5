package engine_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// inDollars is an event about dollars that were captured, or refunded, for an attempt in euros.
func inDollars(kind webhooks.Kind, id payment.AttemptID, minor int64) webhooks.Event {
	e := event(kind, id.String())
	e.Money = &webhooks.Money{Minor: minor, Currency: "USD"}
	return e
}

// blocked requires an order to take no pay, and a page not to offer one.
func (r *env) blocked(t *testing.T, id payment.AttemptID, want error) {
	t.Helper()
	v, err := r.Attempt(t.Context(), customer, id)
	require.NoError(t, err)
	require.False(t, v.CanStartNew)
	_, err = try(t.Context(), r.service, "A-1", uuid.NewString(), "tok_success")
	if want != nil {
		require.ErrorIs(t, err, want)
		return
	}
	var busy *payment.InProgressError
	require.ErrorAs(t, err, &busy)
	require.Equal(t, id, busy.Attempt.ID)
}

// payable requires an order to take another pay, and makes one.
func (r *env) payable(t *testing.T, id payment.AttemptID) {
	t.Helper()
	v, err := r.Attempt(t.Context(), customer, id)
	require.NoError(t, err)
	require.True(t, v.CanStartNew)
	_, err = try(t.Context(), r.service, "A-1", uuid.NewString(), "tok_decline")
	require.NoError(t, err)
}

// Money that the provider captured in another currency, or may still hold, for an attempt that
// has failed takes the place of another pay until it is returned or its discrepancy is resolved.
func TestHeldMoney(t *testing.T) {
	t.Parallel()
	t.Run("another currency", anotherCurrencyBlocks)
	t.Run("a hold", aHoldBlocks)
}

func anotherCurrencyBlocks(t *testing.T) {
	t.Parallel()
	resolve := func(how payment.Resolution) func(*testing.T, *env, payment.AttemptID) {
		return func(t *testing.T, r *env, id payment.AttemptID) {
			t.Helper()
			_, err := r.agreed(t, because(r.open(t, id)[0], how))
			require.NoError(t, err)
		}
	}
	for name, settle := range map[string]func(*testing.T, *env, payment.AttemptID){
		"refunded elsewhere": resolve(payment.ResolvedRefundedElsewhere),
		"reported given back": func(t *testing.T, r *env, id payment.AttemptID) {
			t.Helper()
			part := inDollars(webhooks.KindRefundSucceeded, id, 1000)
			part.RefundID = "re-1"
			r.tell(t, part)
			r.blocked(t, id, payment.ErrOrderPaid)
			all := inDollars(webhooks.KindRefundSucceeded, id, 2499)
			all.RefundID = "re-2"
			r.tell(t, all)
		},
		"reported taken back": func(t *testing.T, r *env, id payment.AttemptID) {
			t.Helper()
			r.tell(t, inDollars(webhooks.KindReversed, id, 2499))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, setup{silent: true})
			id := r.paid(t, "A-1", "tok_decline").ID
			require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, inDollars(webhooks.KindSucceeded, id, 2499)))
			require.Equal(t, []string{"currency_mismatch"}, r.discrepancies(t, id))
			r.blocked(t, id, payment.ErrOrderPaid)
			settle(t, r, id)
			r.payable(t, id)
			require.Empty(t, r.verify(t))
		})
	}
	t.Run("accepted", func(t *testing.T) {
		t.Parallel()
		r := newEnv(t, setup{silent: true})
		id := r.paid(t, "A-1", "tok_decline").ID
		r.tell(t, inDollars(webhooks.KindSucceeded, id, 2499))
		resolve(payment.ResolvedAccepted)(t, r, id)
		o, err := r.Order(t.Context(), customer, "A-1")
		require.NoError(t, err)
		require.Equal(t, payment.OrderPaid, o.Status(), "it is kept, so the order is paid by it")
		r.blocked(t, id, payment.ErrOrderPaid)
		require.Empty(t, r.verify(t))
	})
	t.Run("while the attempt was pending", func(t *testing.T) {
		t.Parallel()
		r := newEnv(t, setup{silent: true})
		id := r.paid(t, "A-1", "tok_never").ID
		r.tell(t, inDollars(webhooks.KindSucceeded, id, 2499))
		d := r.open(t, id)[0]
		_, err := r.Resolve(t.Context(), sam, because(d, payment.ResolvedNotPaid))
		require.ErrorIs(t, err, payment.ErrHoldsMoney)
		require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindFailed))
		r.blocked(t, id, payment.ErrOrderPaid)
		resolve(payment.ResolvedRefundedElsewhere)(t, r, id)
		r.payable(t, id)
	})
	t.Run("beside euros that are being refunded", func(t *testing.T) {
		t.Parallel()
		r := newEnv(t, setup{silent: true, provider: (&refunding{refund: backLost}).on})
		id := r.paid(t, "A-1", "tok_decline").ID
		r.tell(t, inDollars(webhooks.KindSucceeded, id, 2499))
		dollars := r.open(t, id)[0]
		require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
		refund := r.refundOf(t, id, "refund-key", price)
		require.Equal(t, fsm.RefundPending, refund.State)
		_, err := r.Resolve(t.Context(), sam, because(dollars, payment.ResolvedRefundedElsewhere))
		require.NoError(t, err, "what becomes of the euros says nothing of the dollars")
		a := r.attempt(t, id)
		require.False(t, a.ForeignMoney)
		require.EqualValues(t, price, a.Held(), "the euros are the refund's")
		r.blocked(t, id, payment.ErrOrderPaid)
	})
	t.Run("it stops the order's other attempt", func(t *testing.T) {
		t.Parallel()
		r := newEnv(t, setup{silent: true})
		first := r.paid(t, "A-1", "tok_decline").ID
		second := r.payAgain(t, "A-1", "tok_success", payment.CaptureManual).ID
		r.tell(t, inDollars(webhooks.KindSucceeded, first, 2499))
		require.ErrorIs(t, r.confirm(t, second, "confirm-key"), payment.ErrOrderPaid)
		require.Equal(t, canceled, standingOf(r.recheck(t, second).Attempt))
	})
}

func aHoldBlocks(t *testing.T) {
	t.Parallel()
	held := func(t *testing.T, p *answering) (*env, payment.AttemptID) {
		t.Helper()
		r := newEnv(t, setup{silent: true, provider: p.on})
		id := r.paid(t, "A-1", "tok_decline").ID
		require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
		r.blocked(t, id, nil)
		return r, id
	}
	t.Run("until it is given up", func(t *testing.T) {
		t.Parallel()
		p := &answering{lookup: says(fsm.EventAuthorized), cancel: noAnswer}
		r, id := held(t, p)
		r.recheck(t, id)
		r.blocked(t, id, nil)
		p.cancel = says(fsm.EventFailed)
		r.recheck(t, id)
		r.payable(t, id)
	})
	t.Run("until the provider says that there is none", func(t *testing.T) {
		t.Parallel()
		r, id := held(t, &answering{lookup: says(fsm.EventFailed)})
		r.recheck(t, id)
		r.payable(t, id)
	})
	t.Run("until a webhook says that it is over", func(t *testing.T) {
		t.Parallel()
		r, id := held(t, &answering{lookup: says(fsm.EventAuthorized), cancel: says(fsm.EventProcessing)})
		r.recheck(t, id)
		require.Equal(t, fsm.Repeat, r.say(t, id, webhooks.KindFailed), "which may be older than the hold")
		r.blocked(t, id, nil)
		r.over(t, id, time.Now())
		r.payable(t, id)
	})
	t.Run("until a lookup says that it is over, where several may have come", func(t *testing.T) {
		t.Parallel()
		r, id := held(t, &answering{lookup: says(fsm.EventFailed)})
		require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
		r.over(t, id, time.Now())
		r.blocked(t, id, nil)
		r.recheck(t, id)
		r.payable(t, id)
	})
	t.Run("until a person has settled what is not given up", func(t *testing.T) {
		t.Parallel()
		p := unwilling(fsm.EventAuthorized)
		r, id := held(t, p)
		r.recheck(t, id)
		require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
		require.Nil(t, r.attempt(t, id).NextCheckAt)
		r.blocked(t, id, nil)
		accepted := because(r.open(t, id)[0], payment.ResolvedAccepted)
		_, err := r.Resolve(t.Context(), sam, accepted)
		require.ErrorIs(t, err, payment.ErrResolutionImpossible, "the provider holds it still")
		p.lookup = says(fsm.EventFailed)
		_, err = r.Resolve(t.Context(), sam, accepted)
		require.NoError(t, err)
		r.payable(t, id)
	})
	t.Run("but not its own capture", func(t *testing.T) {
		t.Parallel()
		r, id := held(t, &answering{})
		require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
		r.blocked(t, id, payment.ErrOrderPaid)
	})
	t.Run("of another currency", func(t *testing.T) {
		t.Parallel()
		p := &answering{lookup: says(fsm.EventAuthorized), cancel: says(fsm.EventFailed)}
		r := newEnv(t, setup{silent: true, provider: p.on})
		id := r.paid(t, "A-1", "tok_decline").ID
		require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, inDollars(webhooks.KindAuthorized, id, 2499)))
		r.blocked(t, id, payment.ErrOrderPaid)
		r.recheck(t, id)
		require.EqualValues(t, 1, p.cancels.Load())
		r.payable(t, id)
	})
}
