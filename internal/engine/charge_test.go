package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider"
)

func TestCharge(t *testing.T) {
	t.Parallel()
	t.Run("describes_the_attempt_on_disk", chargeDescribesTheAttemptOnDisk)
	t.Run("unstorable_result", chargeUnstorableResult)
}

// The parameters of a charge come from the attempt that is on disk.
func chargeDescribesTheAttemptOnDisk(t *testing.T) {
	t.Parallel()
	heard := make(chan gateway.Charge, 1)
	p := &spy{charge: func(_ context.Context, c gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		heard <- c
		return send()
	}}
	r := newEnv(t, setup{provider: p.on})
	paid := r.paid(t, "A-1", "tok_success")
	c := <-heard
	c.Permit = gateway.Permit{} // functions can't be compared
	require.Equal(t, gateway.Charge{
		Details: gateway.Details{Token: "tok_success", Customer: gateway.Customer{Reference: "u1"}},
		Attempt: paid.ID, Order: "A-1", Money: payment.Money{Minor: price, Currency: "EUR"},
		Capture: payment.CaptureAutomatic, IdempotencyKey: c.IdempotencyKey,
	}, c)
}

// A charge with a result that no database takes may have been made: its outcome is unknown, and
// it is looked up.
func chargeUnstorableResult(t *testing.T) {
	t.Parallel()
	p := &spy{charge: func(_ context.Context, _ gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		o, err := send()
		o.ProviderPaymentID = "ch_\x00"
		return o, err
	}}
	r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider {
		return provider.NewGuard(p.on(of), provider.Limits{}, time.Now, func(provider.Called) {}, func(string) {})
	}})
	paid := r.paid(t, "A-1", "tok_success")
	require.Equal(t, fsm.OutcomeUnknown, paid.State)
	p.charge = nil
	require.Equal(t, succeeded, standingOf(r.recheck(t, paid.ID).Attempt))
	require.Len(t, r.ledger(t), 1)
}
