package providertest

import (
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// overtaken repeats calls that the provider accepted before, as a second runner does. The provider has no key of the
// first call, or has deleted it. A refusal then concerns the second call alone, and is never the state of the payment or
// of the refund.
func overtaken(r *rig) {
	overtakenCharge(r)
	overtakenCapture(r)
	overtakenCancel(r)
	overtakenRefund(r)
	namedDecline(r)
}

// overtakenCharge repeats a charge with a token that is no longer valid.
func overtakenCharge(r *rig) {
	if r.Tokens.None == "" {
		return
	}
	c := charge(r.Tokens.Success)
	made := r.charged(c)
	c.Token = r.Tokens.None
	again, err := r.Charge(r.Context(), c)
	switch {
	case err != nil:
		r.unknown(err, "the key is of another request")
	case again.Event == fsm.EventFailed || again.Event == fsm.EventSoftFailed:
		require.True(r, again.Refused || again.ProviderPaymentID == "", "a refusal that names a payment fails that payment")
		require.NotEqual(r, made.ProviderPaymentID, again.ProviderPaymentID)
	}
	r.stays(made)
}

// stays asserts that a lookup reports the same state as before.
func (r *rig) stays(made gateway.Outcome) {
	r.Helper()
	if r.can.Blind() {
		return
	}
	now, err := r.Lookup(r.Context(), made.ProviderPaymentID)
	require.NoError(r, err)
	require.Equal(r, made.Event, now.Event)
}

func overtakenCapture(r *rig) {
	if r.can.Captures == payment.CapturesNone {
		return
	}
	c := captureOf(r.held().ProviderPaymentID, price)
	first, err := r.Capture(r.Context(), c)
	require.NoError(r, err)
	require.False(r, first.Refused)
	c.IdempotencyKey = key(uuid.New(), "capture-0")
	again, err := r.Capture(r.Context(), c)
	require.NoError(r, err)
	require.Equal(r, first.Event, again.Event, "it tells how the payment stands")
}

func overtakenCancel(r *rig) {
	if r.can.Cancels == payment.CancelsNone || r.can.Captures == payment.CapturesNone {
		return
	}
	c := cancelOf(r.held().ProviderPaymentID)
	first, err := r.Cancel(r.Context(), c)
	require.NoError(r, err)
	c.IdempotencyKey = key(uuid.New(), "cancel-0")
	again, err := r.Cancel(r.Context(), c)
	require.NoError(r, err)
	require.Equal(r, first.Event, again.Event, "it tells how the payment stands")
}

func overtakenRefund(r *rig) {
	if r.can.Refunds == payment.RefundsNone {
		return
	}
	c := refundOf(r.charged(charge(r.Tokens.Success)).ProviderPaymentID, price)
	first, err := r.Refund(r.Context(), c)
	require.NoError(r, err)
	require.NotEqual(r, fsm.EventFailed, first.Event)
	c.IdempotencyKey = key(uuid.New(), "refund")
	again, err := r.Refund(r.Context(), c)
	switch {
	case err != nil: // the outcome is unknown, or nothing was sent
	case again.Event == fsm.EventFailed:
		require.True(r, again.Refused, "an earlier call has paid back")
		require.Empty(r, again.ProviderRefundID)
	case !r.can.Blind():
		require.Equal(r, first.ProviderRefundID, again.ProviderRefundID, "it is the same refund")
	}
}

// namedDecline tests that a decline is an answer about a payment and not a refused call. A lookup of the payment that it
// names must report the decline.
func namedDecline(r *rig) {
	if r.Tokens.Decline == "" {
		return
	}
	o, err := r.Charge(r.Context(), charge(r.Tokens.Decline))
	require.NoError(r, err)
	require.False(r, o.Refused)
	if o.ProviderPaymentID != "" && !r.can.Blind() {
		r.stays(o)
	}
}
