package api_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
)

// What a chargeback took is shown by itself, and never as less than nothing.
func TestAttemptAmounts(t *testing.T) {
	t.Parallel()
	for disputed, shown := range map[int64]string{300: "300", 0: "0", -300: "0"} {
		b := newBench(t)
		a := succeeded()
		a.Captured, a.Reversed, a.Refunded, a.Disputed = 1999, 200, 500, disputed
		b.payments.reply = payment.Reply{View: payment.View{Attempt: a}, Result: idempotency.Created}
		var got map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(b.command(attemptPath+"/confirm", ``).text, &got))
		require.Equal(t, []string{"1799", "500", shown}, []string{string(got["amount_captured"]), string(got["amount_refunded"]), string(got["amount_disputed"])})
	}
}
