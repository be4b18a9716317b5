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

// One of several captures of a hold must not be taken twice: the rest would cover it. Without the provider's keys it is
// sent once. A capture whose members are lost is not sent.
func TestPermitOfACapture(t *testing.T) {
	t.Parallel()
	now := time.Now()
	keys := payment.Capabilities{KeyLife: time.Hour}
	for name, c := range map[string]struct {
		mode  payment.CaptureMode
		state fsm.State
		can   payment.Capabilities
		sends int
		data  bool
		left  int64
		want  payment.Decision
	}{
		"the only one, again, without keys": {payment.CaptureManual, fsm.Authorized, payment.Capabilities{}, 1, false, 1499, payment.Send},
		"a further one":                     {payment.CaptureSeveral, fsm.Succeeded, keys, 0, false, 1499, payment.Send},
		"a further one, again":              {payment.CaptureSeveral, fsm.Succeeded, keys, 1, false, 1499, payment.Send},
		"a further one, without keys":       {payment.CaptureSeveral, fsm.Succeeded, payment.Capabilities{}, 0, false, 1499, payment.Send},
		"again, without keys":               {payment.CaptureSeveral, fsm.Succeeded, payment.Capabilities{}, 1, false, 1499, payment.Ask},
		"the first, again, without keys":    {payment.CaptureSeveral, fsm.Authorized, payment.Capabilities{}, 1, false, 1499, payment.Ask},
		"nothing is left":                   {payment.CaptureSeveral, fsm.Succeeded, keys, 1, false, 0, payment.Close},
		"of a payment that is captured":     {payment.CaptureManual, fsm.Succeeded, keys, 1, false, 1499, payment.Close},
		"without its members":               {payment.CaptureSeveral, fsm.Succeeded, keys, 1, true, 1499, payment.Ask},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := payment.Attempt{
				Money: payment.Money{Minor: 1999, Currency: "EUR"}, State: c.state, Capture: c.mode,
				Payments: []payment.Payment{{ID: "pi_1", State: fsm.PaymentCaptured}},
			}
			for kind, minor := range map[payment.MovementKind]int64{payment.MovementAuthorization: 500 + c.left, payment.MovementCapture: 500} {
				a.Movements = append(a.Movements, payment.Movement{Kind: kind, Money: payment.Money{Minor: minor, Currency: "EUR"}})
			}
			a.Operations = []payment.Operation{{
				Kind: payment.OperationCapture, State: fsm.OperationUnknown, Sends: c.sends, FirstSentAt: &now, Amount: 100, Before: 500, HasData: c.data,
			}}
			require.Equal(t, c.want, a.Permit(&a.Operations[0], payment.Order{}, c.can, now))
		})
	}
}
