package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
)

// The text of a proposal has the resolution that was proposed, whichever it is.
func TestAwaits(t *testing.T) {
	t.Parallel()
	for _, resolution := range []payment.Resolution{payment.ResolvedPaid, payment.ResolvedNotPaid, payment.ResolvedRefundedElsewhere, payment.ResolvedAccepted} {
		for _, id := range []string{"", "ch_1"} {
			text := awaits(payment.Discrepancy{Proposed: &payment.ProposedResolution{Resolution: resolution, ProviderPaymentID: id}})
			require.Contains(t, text, "resolves it as "+string(resolution))
			require.Contains(t, text, id)
			require.NotContains(t, text, "can't ask")
		}
	}
}
