package payment_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// A refund is sent only while the attempt's money covers it, beside the other refunds that the provider may have by
// then. A refund that may have been accepted before is looked up, and never withdrawn.
func TestPermitAsksWhetherTheMoneyIsThere(t *testing.T) {
	t.Parallel()
	now := time.Now()
	one, other := payment.Refund{ID: payment.RefundID(uuid.New()), State: fsm.RefundPending}, payment.Refund{ID: payment.RefundID(uuid.New()), State: fsm.RefundPending}
	one.Money, other.Money = payment.Money{Minor: 999, Currency: "EUR"}, payment.Money{Minor: 1000, Currency: "EUR"}
	for name, c := range map[string]struct {
		refunded, disputed int64
		sends, otherSends  int
		otherIs            fsm.RefundState
		want               payment.Decision
	}{
		"covered":                             {want: payment.Send},
		"covered again":                       {sends: 1, want: payment.Send},
		"beside one that was sent":            {otherSends: 1, want: payment.Send},
		"charged back":                        {disputed: 1999, want: payment.Withdraw},
		"refunded in the dashboard":           {refunded: 1001, want: payment.Withdraw},
		"covered to the cent":                 {disputed: 1000, want: payment.Send},
		"charged back, beside one sent":       {disputed: 1000, otherSends: 1, want: payment.Withdraw},
		"charged back, beside one that ended": {disputed: 1000, otherSends: 1, otherIs: fsm.RefundFailed, want: payment.Send},
		"charged back, and maybe accepted":    {disputed: 1999, sends: 1, want: payment.Ask},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			second := other
			if c.otherIs != "" {
				second.State = c.otherIs
			}
			a := payment.Attempt{Money: payment.Money{Minor: 1999, Currency: "EUR"}, State: fsm.Succeeded, Captured: 1999, Refunded: c.refunded, Disputed: c.disputed}
			for i, r := range []payment.Refund{one, second} {
				a.Operations = append(a.Operations, payment.Operation{
					Kind: payment.OperationRefund, Number: i, RefundID: r.ID, State: fsm.OperationWanted, Sends: []int{c.sends, c.otherSends}[i], FirstSentAt: &now,
				})
			}
			can := payment.Capabilities{KeyLife: time.Hour}
			require.Equal(t, c.want, payment.PermitRefund(&a.Operations[0], &a, []payment.Refund{one, second}, can, &one, now))
		})
	}
}
