package providertest

import (
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// staleFetch looks a payment up before and after it changes. A webhook may arrive a moment before the provider's API
// shows the change. A second lookup must therefore send a new request and return the new state.
func staleFetch(r *rig) {
	if r.can.Blind() {
		return
	}
	o, change := r.changing()
	if change == nil {
		return
	}
	before, err := r.Lookup(r.Context(), lookedUp(o))
	require.NoError(r, err)
	require.NotEqual(r, fsm.EventSucceeded, before.Event)
	require.NotEqual(r, fsm.EventFailed, before.Event, "what is not decided is not over")

	change()
	asked := len(r.requests())
	after, err := r.Lookup(r.Context(), r.ordered(lookedUp(o)))
	require.NoError(r, err)
	require.Greater(r, len(r.requests()), asked, "the provider is asked each time")
	require.NotEqual(r, before.Event, after.Event)
}

// changing returns an undecided payment and a function that decides it. The function is nil if the provider decides with
// the charge.
func (r *rig) changing() (gateway.Outcome, func()) {
	r.Helper()
	switch {
	case r.Customer != nil && !r.ForgetsPages:
		c := charge(r.Tokens.Success)
		o, err := r.Charge(r.Context(), c)
		require.NoError(r, err)
		return o, func() { r.Customer(r.T, r.fake, lookedUp(o), c.Token) }
	case r.can.Captures > payment.CapturesNone && r.can.CapturesSeen:
		o := r.held()
		return o, func() {
			_, err := r.Capture(r.Context(), captureOf(o.ProviderPaymentID, price))
			require.NoError(r, err)
		}
	}
	return gateway.Outcome{}, nil
}
