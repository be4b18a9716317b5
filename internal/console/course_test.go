package console_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/console"
	"github.com/paylatch/paylatch/internal/console/strip"
	"github.com/paylatch/paylatch/internal/payment"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// entries are one of each kind and shape, with the mark that each becomes; a mark without a label is none.
func entries() []struct {
	entry support.Entry
	want  strip.Mark
} {
	type detail = map[string]any
	call := func(what, outcome string) support.Entry {
		return support.Entry{Kind: support.EntryCall, Actor: "paylatch", Detail: detail{"what": what, "outcome": outcome, "began_at": "2026-03-01T11:59:58Z"}}
	}
	began := noon.Add(-2 * time.Second)
	return []struct {
		entry support.Entry
		want  strip.Mark
	}{
		{support.Entry{Kind: support.EntryPay, Actor: "customer:u1"}, strip.Mark{Kind: strip.Press, Label: "Pay €19.99"}},
		{support.Entry{Kind: support.EntryReuse, Actor: "customer:u1", Detail: detail{"times": 3}}, strip.Mark{Kind: strip.Repeat, Label: "again", Times: 3}},
		{support.Entry{Kind: support.EntryReuse, Actor: "service:shop"}, strip.Mark{Kind: strip.Request, Label: "again"}},
		{support.Entry{Kind: support.EntryRefused, Actor: "customer:u1"}, strip.Mark{Kind: strip.Refused, Label: "refused"}},
		{support.Entry{Kind: support.EntryRequest, Actor: "service:shop", Detail: detail{"what": "confirm"}}, strip.Mark{Kind: strip.Request, Label: "capture"}},
		{support.Entry{Kind: support.EntryRequest, Actor: "customer:u1", Detail: detail{"what": "cancel"}}, strip.Mark{Kind: strip.Press, Label: "cancel"}},
		{support.Entry{Kind: support.EntryRequest, Actor: "service:shop", Detail: detail{"what": "refund"}}, strip.Mark{}},
		{call("charge", "succeeded"), strip.Mark{Kind: strip.Call, At: began, Until: noon, Label: "charge: paid"}},
		{call("charge", "failed"), strip.Mark{Kind: strip.Call, At: began, Until: noon, Label: "charge: declined"}},
		{call("charge", "unknown"), strip.Mark{Kind: strip.Unanswered, At: began, Until: noon, Label: "charge: no answer"}},
		{call("cancel", "failed"), strip.Mark{Kind: strip.Call, At: began, Until: noon, Label: "cancel: cancelled"}},
		{call("find", "processing"), strip.Mark{Kind: strip.Call, At: began, Until: noon, Label: "status check: processing"}},
		{support.Entry{Kind: support.EntryWebhook, Detail: detail{"kind": "refund_succeeded", "verdict": "applied"}}, strip.Mark{Kind: strip.Webhook, Label: "webhook: refund succeeded"}},
		{support.Entry{Kind: support.EntryWebhook, Detail: detail{"kind": "processing", "verdict": "stale"}}, strip.Mark{Kind: strip.Duplicate, Label: "webhook: processing, old"}},
		{support.Entry{Kind: support.EntryWebhook, Detail: detail{"what": "webhook", "times": 2}}, strip.Mark{Kind: strip.Duplicate, Label: "webhook again", Times: 2}},
		{support.Entry{Kind: support.EntryTransition, Detail: detail{"from": "requested", "to": "outcome_unknown"}}, strip.Mark{Kind: strip.State, Label: "outcome unknown"}},
		{support.Entry{Kind: support.EntryTransition, Detail: detail{"from": "succeeded", "to": "succeeded"}}, strip.Mark{}},
		{support.Entry{Kind: support.EntryRefund, Actor: "service:shop", Detail: detail{"amount": int64(500), "currency": "EUR"}}, strip.Mark{Kind: strip.Request, Label: "refund €5.00"}},
		{support.Entry{Kind: support.EntryRefund, Actor: "provider:a", Detail: detail{"amount": int64(500), "currency": "EUR"}}, strip.Mark{Kind: strip.Dispute, Label: "refund €5.00"}},
		{support.Entry{Kind: support.EntryRefund, Detail: detail{"amount": int64(500), "currency": "EUR", "status": "failed"}}, strip.Mark{Kind: strip.State, Label: "refund €5.00 failed"}},
		{support.Entry{Kind: support.EntryRefund, Detail: detail{"amount": int64(500), "currency": "EUR", "status": "succeeded"}}, strip.Mark{}},
		{support.Entry{Kind: support.EntryDispute, Detail: detail{}}, strip.Mark{Kind: strip.Dispute, Label: "dispute opened"}},
		{support.Entry{Kind: support.EntryDispute, Detail: detail{"dispute_status": "won"}}, strip.Mark{Kind: strip.Dispute, Label: "dispute won"}},
		{support.Entry{Kind: support.EntryDiscrepancy}, strip.Mark{Kind: strip.Review, Label: "needs review"}},
		{support.Entry{Kind: support.EntryStaff, Detail: detail{"action": "attempt.recheck"}}, strip.Mark{Kind: strip.Request, Label: "re-check"}},
		{support.Entry{Kind: support.EntryStaff, Detail: detail{"action": "createRefund"}}, strip.Mark{}},
		{support.Entry{Kind: support.EntryMessage}, strip.Mark{}},
		{support.Entry{Kind: support.EntrySettlement}, strip.Mark{}},
	}
}

func attempt(s fsm.State, entries ...support.Entry) support.Attempt {
	return support.Attempt{View: payment.View{Attempt: payment.Attempt{State: s, Money: payment.Money{Minor: 1999, Currency: "EUR"}}}, Timeline: entries}
}

func TestOf(t *testing.T) {
	t.Parallel()
	for _, tt := range entries() {
		tt.entry.At, tt.entry.Text = noon, "A sentence."
		marks := console.CourseOf(attempt(fsm.Processing, tt.entry)).Marks
		if tt.want.Label == "" {
			require.Empty(t, marks, "%v", tt.entry)
			continue
		}
		if tt.want.At.IsZero() {
			tt.want.At = noon
		}
		tt.want.Text = "A sentence."
		require.Equal(t, []strip.Mark{tt.want}, marks)
	}
}

// TestEnd has each state: only one that succeeded is good, and only one that failed bad.
func TestEnd(t *testing.T) {
	t.Parallel()
	for state, want := range map[fsm.State]strip.Course{
		fsm.Succeeded: {End: "succeeded", Tone: strip.Good}, fsm.Failed: {End: "failed", Tone: strip.Bad}, fsm.OutcomeUnknown: {End: "outcome unknown"},
		fsm.AwaitingCustomer: {End: "waiting for the customer"}, fsm.Processing: {End: "processing"},
	} {
		got := console.CourseOf(attempt(state))
		require.Equal(t, want.End, got.End)
		require.Equal(t, want.Tone, got.Tone)
	}
}

func TestMovements(t *testing.T) {
	t.Parallel()
	a := attempt(fsm.Succeeded)
	want := map[payment.MovementKind]strip.Mark{
		payment.MovementAuthorization: {Kind: strip.Hold, Label: "held"}, payment.MovementRelease: {Kind: strip.Hold, Label: "released"},
		payment.MovementCapture: {Kind: strip.MoneyIn, Label: "captured"}, payment.MovementCaptureReversal: {Kind: strip.MoneyBack, Label: "reversed"},
		payment.MovementRefund: {Kind: strip.MoneyBack, Label: "refunded"}, payment.MovementRefundReversal: {Kind: strip.MoneyIn, Label: "refund reversed"},
		payment.MovementChargeback: {Kind: strip.MoneyBack, Label: "charged back"}, payment.MovementChargebackReversal: {Kind: strip.MoneyIn, Label: "returned"},
	}
	for kind, m := range want {
		a.Movements = []payment.Movement{{Kind: kind, Money: payment.Money{Minor: 700, Currency: "USD"}, RecordedAt: noon}}
		got := console.CourseOf(a).Marks
		require.Len(t, got, 1)
		require.Equal(t, m.Kind, got[0].Kind, kind)
		require.Equal(t, "US$7.00 "+m.Label, got[0].Label)
		require.Equal(t, noon, got[0].At)
	}
}

// TestAnyAmounts has the bar of an order hold each movement of its payments once.
func TestAnyAmounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var captured, returned int64
		attempts := make([]payment.Attempt, rapid.IntRange(0, 4).Draw(t, "attempts"))
		for i := range attempts {
			a := &attempts[i]
			a.Money = payment.Money{Minor: 1999, Currency: "EUR"}
			move := func(kind payment.MovementKind, most int64) int64 {
				minor := rapid.Int64Range(0, most).Draw(t, string(kind))
				if minor > 0 {
					a.Movements = append(a.Movements, payment.Movement{Kind: kind, Money: payment.Money{Minor: minor, Currency: "EUR"}})
				}
				return minor
			}
			in := move(payment.MovementCapture, 5000)
			reversed := move(payment.MovementCaptureReversal, in)
			a.Captured = in - reversed
			a.Refunded = move(payment.MovementRefund, a.Captured)
			a.Disputed = move(payment.MovementChargeback, a.Captured-a.Refunded)
			captured, returned = captured+in, returned+reversed+a.Refunded+a.Disputed
		}
		bar := console.AmountsBar("bar", payment.Money{Minor: 1999, Currency: "EUR"}, attempts...)
		of := map[string]int64{}
		for _, p := range bar.Parts() {
			of[p.Class] = p.Minor
		}
		require.Equal(t, captured-returned, of["left"])
		require.Equal(t, returned, of["refunded"]+of["disputed"]+of["reversed"])
		require.Equal(t, max(1999, captured), of["left"]+of["refunded"]+of["disputed"]+of["reversed"]+of["open"])
	})
}

func TestAmounts(t *testing.T) {
	t.Parallel()
	first := payment.Attempt{Money: payment.Money{Minor: 1999, Currency: "EUR"}, Captured: 1000, Refunded: 300, Movements: []payment.Movement{
		{Kind: payment.MovementCaptureReversal, Money: payment.Money{Minor: 999, Currency: "EUR"}},
	}}
	second := payment.Attempt{Money: first.Money, Captured: 500, Disputed: 200, Refunded: -5}
	got := console.AmountsBar("bar", first.Money, first, second)
	require.Equal(t, "€0.05", got.Write(5))
	got.Write = nil
	require.Equal(t, strip.Amounts{ID: "bar", Asked: 1999, Captured: 1500, Reversed: 999, Refunded: 300, Disputed: 200}, got)
	require.Equal(t, int64(1000), got.Left())
}
