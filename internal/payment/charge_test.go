package payment_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
)

// What a provider is told of a payment comes from the attempt that is on disk.
func TestTheProviderHearsWhosePaymentItIs(t *testing.T) {
	t.Parallel()
	heard := make(chan payment.Charge, 1)
	p := &tapped{charge: func(_ context.Context, c payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error) {
		heard <- c
		return send()
	}}
	r := newRig(t, setup{provider: p.on})
	paid := r.paid(t, "A-1", "tok_success")
	c := <-heard
	c.Licence = payment.Licence{} // a function has no equal
	require.Equal(t, payment.Charge{
		Attempt: paid.ID, Order: "A-1", User: "u1", Money: payment.Money{Minor: price, Currency: "EUR"},
		Capture: payment.CaptureAutomatic, Token: "tok_success", IdempotencyKey: c.IdempotencyKey,
	}, c)
}
