package gateway_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// A merchant's refund of a whole payment is no cancel that gave its money back: only the adapter knows the difference.
func TestAWholeRefundIsNoCancel(t *testing.T) {
	t.Parallel()
	o := gateway.Outcome{Event: fsm.EventSucceeded, Refunds: []gateway.RefundOutcome{{Event: fsm.EventSucceeded, Whole: true}}}
	require.False(t, gateway.FromOutcome(o, payment.Cause{}).Returned)
	o.Returned = true
	require.True(t, gateway.FromOutcome(o, payment.Cause{}).Returned)
}
