package payment_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider"
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
		Attempt: paid.ID, Order: "A-1", Customer: "u1", Money: payment.Money{Minor: price, Currency: "EUR"},
		Capture: payment.CaptureAutomatic, Token: "tok_success", IdempotencyKey: c.IdempotencyKey,
	}, c)
}

// A charge that the provider answers with what no database takes may have been made:
// the attempt says that nobody knows, and is asked about.
func TestAChargeWhoseAnswerCanNotBeKeptIsUnknown(t *testing.T) {
	t.Parallel()
	p := &tapped{charge: func(_ context.Context, _ payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error) {
		o, err := send()
		o.ProviderPaymentID = "ch_\x00"
		return o, err
	}}
	r := newRig(t, setup{silent: true, provider: func(of payment.Provider) payment.Provider {
		return provider.NewGuard(p.on(of), provider.Limits{}, time.Now, func(provider.Called) {}, func(string) {})
	}})
	paid := r.paid(t, "A-1", "tok_success")
	require.Equal(t, fsm.OutcomeUnknown, paid.State)
	p.charge = nil
	require.Equal(t, succeeded, standingOf(r.recheck(t, paid.ID).Attempt))
	require.Len(t, r.ledger(t), 1)
}
