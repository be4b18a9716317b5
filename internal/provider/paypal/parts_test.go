package paypal_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// While PayPal reviews one of several captures, the others count. Once it is declined, the money of the others stays.
func TestOneOfSeveralCapturesWaits(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	held := charged(t, c, manual(charge("card:1")))
	part := func(key string, minor int64) gateway.Outcome {
		o, err := c.Capture(t.Context(), gateway.Capture{
			ProviderPaymentID: held.ProviderPaymentID, Container: held.Container, Money: euro(minor), Several: true, IdempotencyKey: key, Permit: permit(),
		})
		require.NoError(t, err)
		return o
	}
	part("k0", 500)
	two := part("k1", 700)
	require.Equal(t, euro(1200), *two.Money)
	waiting := f.captured(two.ProviderRef)
	waiting.status = "PENDING"
	now, err := c.Lookup(t.Context(), held.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, fsm.EventProcessing, now.Event)
	require.Len(t, now.Movements, 1)
	require.EqualValues(t, 500, now.Movements[0].Money.Minor)

	waiting.status = "DECLINED"
	now, err = c.Lookup(t.Context(), held.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, now.Event)
	require.Equal(t, euro(500), *now.Money)
	require.True(t, part("k1", 700).Refused, "the same key has the same answer")
}

// Each refund is of the named capture, and reports the payment.
func TestARefundIsOfTheNamedCapture(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	held := charged(t, c, manual(charge("card:1")))
	var captures []string
	for _, key := range []string{"k0", "k1"} {
		o, err := c.Capture(t.Context(), gateway.Capture{
			ProviderPaymentID: held.ProviderPaymentID, Container: held.Container, Money: euro(600), Several: true, IdempotencyKey: key, Permit: permit(),
		})
		require.NoError(t, err)
		captures = append(captures, o.ProviderRef)
	}
	for i, capture := range captures {
		o, err := c.Refund(t.Context(), gateway.RefundCall{
			Refund: payment.RefundID(uuid.New()), ProviderPaymentID: held.ProviderPaymentID, Container: held.Container, Capture: capture, Money: euro(600),
			IdempotencyKey: capture, Permit: permit(),
		})
		require.NoError(t, err)
		require.Equal(t, fsm.EventSucceeded, o.Event)
		require.Equal(t, held.ProviderPaymentID, o.ProviderPaymentID)
		require.Equal(t, capture, f.orders[held.Container].refunds[i].of)
	}
}
