package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// Two payments of a failed attempt hold money, and a person says that all of it was refunded elsewhere. Each payment's refund is
// recorded under this payment, and a later webhook of one adds nothing.
func TestMoneyOfTwoPaymentsRefundedElsewhere(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"one was reported before": true, "one is reported after": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := deaf(t)
			id := r.register(t, commands.External{}).ID
			r.lateNow(t, id)
			r.recheck(t, id)
			require.True(t, r.attempt(t, id).Failed())
			r.tell(t, under(webhooks.KindSucceeded, id, "pi_a"), under(webhooks.KindSucceeded, id, "pi_b"))
			back := of(webhooks.KindRefundSucceeded, id, "pi_b", price)
			back.RefundID = "re_dashboard"
			if before {
				r.tell(t, back)
			}
			_, err := r.agreed(t, because(r.open(t, id)[0], payment.ResolvedRefundedElsewhere))
			require.NoError(t, err)
			if !before {
				r.tell(t, back)
			}
			a := r.attempt(t, id)
			require.EqualValues(t, 2*price, a.Refunded)
			require.EqualValues(t, price, a.Payment("pi_a").Refunded)
			require.EqualValues(t, price, a.Payment("pi_b").Refunded)
			require.NotContains(t, r.discrepancies(t, id), "refund_exceeds")
			require.Empty(t, r.verify(t))
		})
	}
}
