package checkout_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/checkout"
)

// inParts returns a payment with a hold for several captures, and a function that makes the request of a capture.
func inParts(t *testing.T, c *checkout.Client) (string, func(key string, minor int64) gateway.Capture) {
	t.Helper()
	ch := charge(cardOK)
	ch.Capture, ch.Several = payment.CaptureManual, true
	o := charged(t, c, ch)
	return o.ProviderPaymentID, func(key string, minor int64) gateway.Capture {
		return gateway.Capture{
			Attempt: ch.Attempt, ProviderPaymentID: o.ProviderPaymentID, Money: euro(minor), Several: true, IdempotencyKey: key, Permit: permit(),
		}
	}
}

// A capture with a lost response is looked for by its reference before it is sent again. It may be under way.
func TestALostPartIsSentOnce(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, seen := serve(t, f)
	id, capture := inParts(t, c)
	first, err := c.Capture(t.Context(), capture("0123-capture-0", 500))
	require.NoError(t, err)
	for len(seen) > 0 {
		<-seen
	}
	again := capture("0123-capture-0", 500)
	again.Again = true
	got, err := c.Capture(t.Context(), again)
	require.NoError(t, err)
	require.Equal(t, first.ProviderRef, got.ProviderRef)
	require.Equal(t, euro(500), *got.Money)
	for len(seen) > 0 {
		require.Contains(t, (<-seen).line, http.MethodGet+" ")
	}
	another := capture("0123-capture-1", 500)
	another.Again = true
	got, err = c.Capture(t.Context(), another)
	require.NoError(t, err)
	require.NotEqual(t, first.ProviderRef, got.ProviderRef)
	require.Equal(t, euro(1000), *got.Money)
	now, err := c.Lookup(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, []payment.MovementReport{
		{Kind: payment.MovementCapture, ID: first.ProviderRef, Money: euro(500), Reference: "0123-capture-0"},
		{Kind: payment.MovementCapture, ID: got.ProviderRef, Money: euro(500), Reference: "0123-capture-1"},
	}, now.Movements)
}

// Without the list of actions nothing shows whether a capture was made: it is not sent again.
func TestALostPartThatCannotBeLookedForIsNotSent(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	_, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "pay_1", Money: euro(1), Several: true, Again: true, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrNotSent)
	require.Len(t, seen, 1)
}

// A lookup shows the last capture that was declined, by its name and ours. The money of the others stays.
func TestADeclinedPartIsARefusal(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, _ := serve(t, f)
	id, capture := inParts(t, c)
	_, err := c.Capture(t.Context(), capture("0123-capture-0", 500))
	require.NoError(t, err)
	f.mu.Lock()
	declined := f.did(f.payments[id], "Capture", 700, false, "20005", "0123-capture-1")
	f.mu.Unlock()
	now, err := c.Lookup(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, now.Event)
	require.Equal(t, euro(500), *now.Money)
	require.Equal(t, &payment.RefusalReport{Kind: payment.OperationCapture, ProviderRef: declined["id"].(string), Reference: "0123-capture-1"}, now.Refusal) //nolint:forcetypeassert // the fake's
	lost := capture("0123-capture-1", 700)
	lost.Again = true
	got, err := c.Capture(t.Context(), lost)
	require.NoError(t, err)
	require.True(t, got.Refused)
}
