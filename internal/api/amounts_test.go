package api_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// The charged back amount is shown by itself. A reversal before its original makes no shown amount negative.
func TestAttemptAmounts(t *testing.T) {
	t.Parallel()
	for sums, shown := range map[[3]int64][]string{
		{1799, 500, 300}: {"1799", "500", "300"}, {1799, 500, 0}: {"1799", "500", "0"}, {-200, -500, -300}: {"0", "0", "0"},
	} {
		b := newBench(t)
		a := succeeded()
		a.Captured, a.Refunded, a.Disputed = sums[0], sums[1], sums[2]
		b.payments.reply = commands.Reply{View: payment.View{Attempt: a}, Result: idempotency.Created}
		var got map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(b.command(attemptPath+"/confirm", ``).text, &got))
		for i, field := range []string{"amount_captured", "amount_refunded", "amount_disputed"} {
			require.Equal(t, shown[i], string(got[field]))
		}
	}
}
