package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// A test-mode event for a live account, and the other way round, moves nothing. If it reports money of a payment, one
// discrepancy is opened for the payment. An unknown payment opens no discrepancy.
func intakeOtherMode(t *testing.T) {
	t.Parallel()
	live := true
	r := newEnv(t, setup{silent: true, change: func(o *options) {
		account := o.Accounts["sandbox"]
		account.Live = &live
		o.Accounts["sandbox"] = account
	}})
	id := r.paid(t, "A-1", "tok_never").ID
	e := event(webhooks.KindSucceeded, id.String())
	e.Mode = webhooks.ModeTest
	for range 2 {
		e.ID += "-again"
		require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, e))
	}
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id), "once for the payment")
	for kind, of := range map[webhooks.Kind]string{webhooks.KindProcessing: id.String(), webhooks.KindSucceeded: "unknown"} {
		other := event(kind, of)
		other.Mode = webhooks.ModeTest
		require.Equal(t, []fsm.Verdict{payment.Ignored}, r.tell(t, other), kind)
	}
	r.exec(t, "UPDATE provider_events SET verdict = 'unmatched', tries = 1, next_try_at = now()") // as before the account was configured as live
	r.retry(t, true)
	require.Zero(t, r.parked(t), "nor is it tried again")
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Empty(t, r.attempt(t, id).Movements)
	earnest := event(webhooks.KindSucceeded, id.String())
	earnest.Mode = webhooks.ModeLive
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, earnest))
}
