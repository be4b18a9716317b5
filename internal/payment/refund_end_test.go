package payment_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// listing is a provider that never got a refund, and whose payments are found by a
// search that trails; what it lists are refunds.
type listing struct {
	*refunding

	consistent bool
}

func (p listing) Capabilities() payment.Capabilities {
	c := p.refunding.Provider.Capabilities()
	c.FindConsistent, c.RefundsConsistent = false, p.consistent
	return c
}

func newListing(t *testing.T, consistent bool) (*rig, *refunding) {
	t.Helper()
	p := &refunding{refund: backLost, lookup: func() (payment.RefundOutcome, error) { return payment.RefundOutcome{}, payment.ErrNoSuchPayment }}
	return newRig(t, setup{silent: true, provider: func(of payment.Provider) payment.Provider {
		p.on(of)
		return listing{p, consistent}
	}}), p
}

// lost is a refund whose call was lost, older than it could be under way unseen, and
// asked about to the schedule's end.
func (r *rig) lost(t *testing.T, id payment.AttemptID, key string) payment.Refund {
	t.Helper()
	now := r.refund(t, id, key).Refund
	r.exec(t, "UPDATE refunds SET created_at = created_at - $2::interval, updated_at = updated_at - $2::interval WHERE refund_id = $1", now.ID.String(), time.Hour)
	var err error
	for range 12 {
		now, err = r.RecheckRefund(t.Context(), now.ID, byTest)
		require.NoError(t, err)
	}
	return now
}

// How payments are found says nothing of refunds: Stripe's search trails, its list of
// a payment's refunds does not.
func TestARefundThatAConsistentListDoesNotShowWasNotMade(t *testing.T) {
	t.Parallel()
	r, p := newListing(t, true)
	id := r.paid(t, "A-1", "tok_success").ID
	now := r.lost(t, id, "refund-1")
	require.Equal(t, fsm.RefundFailed, now.State)
	require.Equal(t, "not_started", now.Failure.Code)
	require.Empty(t, r.discrepancies(t, id))
	p.refund = nil
	require.Equal(t, fsm.RefundSucceeded, r.refund(t, id, "refund-2").State, "the money is free again")

	r, _ = newListing(t, false)
	id = r.paid(t, "A-1", "tok_success").ID
	require.Equal(t, fsm.RefundPending, r.lost(t, id, "refund-1").State)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
}
