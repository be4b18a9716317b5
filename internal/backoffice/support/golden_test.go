package support_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/activity"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

var (
	noon    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	first   = payment.AttemptID(uuid.MustParse("01980d3e-7f2a-7cc1-9d2b-3f0e5a6b7c8d"))
	second  = payment.AttemptID(uuid.MustParse("01980d3e-7f2a-7cc1-9d2b-3f0e5a6b7c8e"))
	refunds = payment.RefundID(uuid.MustParse("01980d3e-9a10-7b55-8f0a-5d6c1e2f3a4b"))
	someID  = uuid.MustParse("01980d3e-8c11-7d02-a1b5-0c9d8e7f6a5b")
)

func after(s float64) time.Time { return noon.Add(time.Duration(s * float64(time.Second))) }

func at(s float64) *time.Time {
	t := after(s)
	return &t
}

// begun is an attempt of 19.99 EUR at noon, read half a minute later.
func begun(change ...func(c *support.AttemptHistory)) support.AttemptHistory {
	a := payment.Attempt{
		ID: first, OrderID: "A-1", UserID: "u1", RequestID: "pay-key-1", Account: "sandbox", State: fsm.Requested,
		Money: payment.Money{Minor: 1999, Currency: "EUR"}, Capture: payment.CaptureAutomatic, Version: 1, CreatedAt: noon, UpdatedAt: noon,
		Operations: []payment.Operation{{AttemptID: first, Kind: payment.OperationCharge, State: fsm.OperationAccepted, NextAt: at(40)}},
	}
	c := support.AttemptHistory{Attempt: a, Order: payment.Order{ID: "A-1", UserID: "u1", Money: a.Money, CreatedAt: noon}, ReadAt: after(30)}
	for _, f := range change {
		f(&c)
	}
	c.Order.Attempts = append([]payment.Attempt{c.Attempt}, c.Order.Attempts...)
	return c
}

func state(s fsm.State) func(*support.AttemptHistory) {
	return func(c *support.AttemptHistory) {
		c.Attempt.State = s
		if s.Final() {
			c.Attempt.FinalizedAt = at(2)
			c.Attempt.Operations[0].State, c.Attempt.Operations[0].NextAt = fsm.OperationDone, nil
		}
		if s == fsm.Succeeded {
			c.Attempt.Captured, c.Attempt.LastMovement = c.Attempt.Money.Minor, 1
		}
		if s == fsm.Failed {
			c.Attempt.Failure = payment.NewFailure("card_declined", "51")
		}
	}
}

func money(currency payment.Currency, minor int64) func(*support.AttemptHistory) {
	return func(c *support.AttemptHistory) { c.Attempt.Money = payment.Money{Minor: minor, Currency: currency} }
}

// opened is an open operation, in the slot of the charge if it takes money.
func opened(kind payment.OperationKind, due float64) func(*support.AttemptHistory) {
	return func(c *support.AttemptHistory) {
		if kind.Takes() {
			c.Attempt.Operations[0].State, c.Attempt.Operations[0].NextAt = fsm.OperationDone, nil
		}
		c.Attempt.Operations = append(c.Attempt.Operations, payment.Operation{AttemptID: first, Kind: kind, State: fsm.OperationUnknown, NextAt: at(due)})
	}
}

// moved is a movement of the attempt's money.
func moved(kind payment.MovementKind, currency payment.Currency, minor int64) func(*support.AttemptHistory) {
	return func(c *support.AttemptHistory) {
		a := &c.Attempt
		a.LastMovement++
		m := payment.Movement{Number: a.LastMovement, Kind: kind, Source: payment.MovementTotal, Money: payment.Money{Minor: minor, Currency: currency}, RecordedAt: after(3)}
		a.Movements = append(a.Movements, m)
		a.Count(m)
	}
}

// beside is another attempt of the order.
func beside(s fsm.State, captured int64) func(*support.AttemptHistory) {
	return func(c *support.AttemptHistory) {
		c.Order.Attempts = append(c.Order.Attempts, payment.Attempt{ID: second, OrderID: "A-1", State: s, Money: c.Attempt.Money, Captured: captured})
	}
}

func open(kind payment.DiscrepancyKind, text string) func(*support.AttemptHistory) {
	return func(c *support.AttemptHistory) {
		c.Discrepancies = append(c.Discrepancies, support.Discrepancy{
			Discrepancy: payment.Discrepancy{ID: payment.DiscrepancyID(someID), Kind: kind, AttemptID: &first, Text: text, At: after(3)},
		})
	}
}

func refunded(s fsm.RefundState, minor int64) func(*support.AttemptHistory) {
	return func(c *support.AttemptHistory) {
		r := payment.Refund{
			ID: refunds, AttemptID: first, UserID: "shop", State: s, Money: payment.Money{Minor: minor, Currency: c.Attempt.Money.Currency},
			CreatedAt: after(20),
		}
		if s.Final() {
			r.FinalizedAt = at(21)
		} else {
			c.Attempt.Operations = append(c.Attempt.Operations, payment.Operation{
				AttemptID: first, Kind: payment.OperationRefund, RefundID: refunds, State: fsm.OperationAccepted, NextAt: at(60),
			})
		}
		if s == fsm.RefundSucceeded {
			c.Attempt.Refunded = minor
		}
		c.Refunds = append(c.Refunds, r)
	}
}

func disputed(s fsm.DisputeState, reason string, due float64) func(*support.AttemptHistory) {
	return func(c *support.AttemptHistory) {
		d := payment.Dispute{ProviderDisputeID: "dp_1", State: s, Reason: reason, Money: &payment.Money{Minor: 1999, Currency: c.Attempt.Money.Currency}, OpenedAt: after(3)}
		if due != 0 {
			d.DueBy = after(due)
		}
		c.Attempt.Disputes = append(c.Attempt.Disputes, d)
		c.Provider.Reasons = map[string]string{"product_not_received": "the goods or the service did not arrive"}
	}
}

// named gives the refunds references at the provider.
func named(ids ...string) func(*support.AttemptHistory) {
	return func(c *support.AttemptHistory) {
		for i, id := range ids {
			c.Refunds[i].ProviderRefundID = id
		}
		c.Provider.RefundTime = "5 to 10 business days later, depending on the bank"
	}
}

func reviewed(s payment.ReviewStatus, held bool) func(*support.AttemptHistory) {
	return func(c *support.AttemptHistory) { c.Attempt.Review = payment.Review{Status: s, PaidHeld: held} }
}

// The summary, which support reads to the customer first.
func TestSummary(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, c := range []struct {
		name string
		c    support.AttemptHistory
	}{
		{"requested", begun()},
		{"unknown", begun(state(fsm.OutcomeUnknown))},
		{"unknown, asked within seconds", begun(state(fsm.OutcomeUnknown), func(c *support.AttemptHistory) { c.Attempt.Operations[0].NextAt = at(29) })},
		{"unknown for a person", begun(state(fsm.OutcomeUnknown), open(payment.NeedsReview, "The outcome of this payment is unknown."))},
		{"processing", begun(state(fsm.Processing))},
		{"awaiting the customer", begun(state(fsm.AwaitingCustomer))},
		{"authorized", begun(state(fsm.Authorized))},
		{"being captured", begun(state(fsm.Authorized), opened(payment.OperationCapture, 40))},
		{"being cancelled", begun(state(fsm.Processing), opened(payment.OperationCancel, 40))},
		{"succeeded", begun(state(fsm.Succeeded))},
		{"captured in part", begun(state(fsm.Succeeded), func(c *support.AttemptHistory) { c.Attempt.Captured = 500 })},
		{"refunded in part", begun(state(fsm.Succeeded), refunded(fsm.RefundSucceeded, 500))},
		{"refunded in full", begun(state(fsm.Succeeded), refunded(fsm.RefundSucceeded, 1999))},
		{"charged back whole", begun(state(fsm.Succeeded), moved(payment.MovementChargeback, "EUR", 1999))},
		{"refund on its way", begun(state(fsm.Succeeded), refunded(fsm.RefundPending, 500))},
		{"refunded with a reference", begun(state(fsm.Succeeded), refunded(fsm.RefundSucceeded, 500), named("re_5"))},
		{"two refunds", begun(state(fsm.Succeeded), refunded(fsm.RefundSucceeded, 500), refunded(fsm.RefundSucceeded, 500), named("re_5", "re_6"), func(c *support.AttemptHistory) { c.Attempt.Refunded = 1000 })},
		{"refund failed", begun(state(fsm.Succeeded), refunded(fsm.RefundFailed, 500), named("re_5"))},
		{"refund pending with a reference", begun(state(fsm.Succeeded), refunded(fsm.RefundPending, 500), named("re_5"))},
		{"disputed", begun(state(fsm.Succeeded), disputed(fsm.DisputeOpen, "product_not_received", 4*86400), open(payment.Disputed, "The cardholder disputes this payment."))},
		{"disputed, in another time zone", begun(state(fsm.Succeeded), disputed(fsm.DisputeOpen, "new_code", 86400), func(c *support.AttemptHistory) {
			c.Clocks.Zone = time.FixedZone("NZDT", 13*3600)
		})},
		{"disputed, overdue", begun(state(fsm.Succeeded), disputed(fsm.DisputeOpen, "", -86400))},
		{"disputed without a deadline", begun(state(fsm.Succeeded), disputed(fsm.DisputeOpen, "", 0))},
		{"inquiry", begun(state(fsm.Succeeded), disputed(fsm.DisputeWarning, "", 86400))},
		{"dispute under review", begun(state(fsm.Succeeded), disputed(fsm.DisputeUnderReview, "product_not_received", 86400))},
		{"dispute won", begun(state(fsm.Succeeded), disputed(fsm.DisputeWon, "product_not_received", 86400))},
		{"charged twice, disputed and under review", begun(state(fsm.Succeeded), beside(fsm.Failed, 1999), disputed(fsm.DisputeOpen, "", 86400), reviewed(payment.ReviewOpen, false))},
		{"reversed", begun(state(fsm.Succeeded), moved(payment.MovementCaptureReversal, "EUR", 1999), open(payment.PaymentReversed, "The provider took back captured money."))},
		{"failed", begun(state(fsm.Failed))},
		{"failed, order cancelled", begun(state(fsm.Failed), func(c *support.AttemptHistory) { c.Order.CancelRequestedAt = at(1) })},
		{"failed, another under way", begun(state(fsm.Failed), beside(fsm.Processing, 0))},
		{"failed, another succeeded", begun(state(fsm.Failed), beside(fsm.Succeeded, 1999))},
		{"late success", begun(state(fsm.Failed), moved(payment.MovementCapture, "EUR", 1999), open(payment.LateSuccess, "Money arrived after the payment had failed."))},
		{"late success in another currency", begun(state(fsm.Failed), moved(payment.MovementCapture, "USD", 2499), open(payment.CurrencyMismatch, "The provider speaks of another currency than this payment is for."))},
		{"hold of a failed payment", begun(state(fsm.Failed), moved(payment.MovementAuthorization, "EUR", 1999), opened(payment.OperationCancel, 29))},
		{"double success", begun(state(fsm.Succeeded), beside(fsm.Failed, 1999), open(payment.DoubleSuccess, "The order was paid twice, by two attempts."))},
		{"yen", begun(money("JPY", 500), state(fsm.Succeeded))},
		{"dinars", begun(money("KWD", 5), state(fsm.Succeeded))},
		{"a hold under review", begun(state(fsm.Authorized), reviewed(payment.ReviewOpen, false))},
		{"under review", begun(state(fsm.Succeeded), reviewed(payment.ReviewOpen, false))},
		{"under review, and the shop waits", begun(state(fsm.Succeeded), reviewed(payment.ReviewOpen, true))},
		{"approved", begun(state(fsm.Succeeded), reviewed(payment.ReviewApproved, false))},
		{"declined, and the shop waits", begun(state(fsm.Succeeded), reviewed(payment.ReviewDeclined, true))},
		{"no such currency", begun(money("XYZ", 5), state(fsm.Succeeded))},
	} {
		text.WriteString("## " + c.name + "\n" + c.c.Summary() + "\n\n")
	}
	golden(t, "summaries", text.String())
}

func move(version int, from, to fsm.State, cause payment.CauseKind, id string, s float64, f payment.Facts) payment.Transition {
	f.State = to
	return payment.Transition{Version: version, From: from, To: to, Cause: payment.Cause{Kind: cause, ID: id}, At: after(s), Facts: f}
}

func note(kind activity.NoteKind, what, actor, outcome string, times int, from, until float64) activity.Note {
	return activity.Note{
		ID: someID, Kind: kind, What: what, Actor: actor, Outcome: outcome, Times: times, At: after(from), Until: after(until), RefundID: refunds,
	}
}

func told(kind string, verdict fsm.Verdict, s float64, kept bool) support.Event {
	return support.Event{
		ID: payment.EventID(someID), Account: "sandbox", ProviderEventID: "evt_1", Type: "charge." + kind, Kind: kind, Verdict: verdict,
		Money: &payment.Money{Minor: 1999, Currency: "EUR"}, ReceivedAt: after(s), Kept: kept,
	}
}

// Every sentence that a timeline can hold, in one impossible story.
func TestTimelineSentences(t *testing.T) {
	t.Parallel()
	c := begun(state(fsm.Failed), refunded(fsm.RefundFailed, 500), open(payment.NeedsReview, "Find out what became of it."))
	c.Refunds = append(c.Refunds,
		payment.Refund{ID: refunds, Origin: payment.RefundByProvider, State: fsm.RefundSucceeded, Money: payment.Money{Minor: 100, Currency: "EUR"}, CreatedAt: after(22), FinalizedAt: at(22.5)},
		payment.Refund{ID: refunds, Origin: payment.RefundByPolicy, State: fsm.RefundPending, Money: payment.Money{Minor: 200, Currency: "EUR"}, CreatedAt: after(23)})
	c.Transitions = []payment.Transition{
		move(1, fsm.Requested, fsm.Requested, payment.CausePay, "pay-key-1", 0, payment.Facts{}),
		move(2, fsm.Requested, fsm.OutcomeUnknown, payment.CauseCall, "k-pay", 10, payment.Facts{}),
		move(3, fsm.OutcomeUnknown, fsm.Processing, payment.CauseCheck, "reconcile", 11, payment.Facts{}),
		move(4, fsm.Processing, fsm.Processing, payment.CauseCheck, "reconcile", 12, payment.Facts{ProviderPaymentID: "ch_31"}),
		move(5, fsm.Processing, fsm.AwaitingCustomer, payment.CauseWebhook, "evt_1", 13, payment.Facts{ProviderPaymentID: "ch_31"}),
		move(6, fsm.AwaitingCustomer, fsm.AwaitingCustomer, payment.CauseWebhook, "evt_1", 13.5, payment.Facts{ProviderPaymentID: "ch_31", NextAction: "x"}),
		move(7, fsm.AwaitingCustomer, fsm.Authorized, payment.CauseWebhook, "evt_1", 14, payment.Facts{ProviderPaymentID: "ch_31", Authorized: 1999}),
		move(8, fsm.Authorized, fsm.Failed, payment.CausePerson, "ann", 15, payment.Facts{ProviderPaymentID: "ch_31", Authorized: 1999}),
		move(9, fsm.Failed, fsm.Failed, payment.CauseWebhook, "evt_1", 16, payment.Facts{ProviderPaymentID: "ch_31", Captured: 1999}),
		move(10, fsm.Failed, fsm.Succeeded, payment.CauseWebhook, "evt_1", 16.5, payment.Facts{ProviderPaymentID: "ch_31", Captured: 1999}),
		move(11, fsm.Succeeded, fsm.Succeeded, payment.CauseWebhook, "evt_1", 17, payment.Facts{ProviderPaymentID: "ch_31", Captured: 1999, Refunded: 500}),
		move(12, fsm.Succeeded, fsm.Succeeded, payment.CauseWebhook, "evt_1", 18, payment.Facts{ProviderPaymentID: "ch_31", Captured: 1999, Refunded: 700}),
		move(13, fsm.Succeeded, fsm.Succeeded, payment.CauseWebhook, "evt_1", 18.5, payment.Facts{ProviderPaymentID: "ch_31", Captured: 1999, Refunded: 200}),
		move(14, fsm.Succeeded, fsm.Succeeded, payment.CauseWebhook, "evt_1", 19, payment.Facts{ProviderPaymentID: "ch_31", Captured: 0, Refunded: 200}),
	}
	due := payment.Dispute{ProviderDisputeID: "dp_1", State: fsm.DisputeUnderReview, Reason: "fraudulent", DueBy: after(86400), OpenedAt: after(70)}
	due.Money = &payment.Money{Minor: 500, Currency: "EUR"}
	c.Attempt.Disputes = []payment.Dispute{due}
	for i, end := range []fsm.DisputeState{fsm.DisputeWon, fsm.DisputeLost, fsm.DisputeAccepted} {
		c.Attempt.Disputes = append(c.Attempt.Disputes, payment.Dispute{
			ProviderDisputeID: "dp_2", State: end, OpenedAt: after(71), ClosedAt: at(72 + float64(i)),
		})
	}
	const customer, shop = "customer:u1", "service:shop"
	for i, outcome := range strings.Fields("succeeded failed soft_failed processing action_required authorized refused not_found unknown not_sent") {
		from := 1 + float64(i)/10
		c.Activity = append(c.Activity, note(activity.NoteCall, "charge", "", outcome, 1, from, from+0.05), note(activity.NotePoll, "lookup", "", outcome, 1, from, from+10))
	}
	for i, what := range []string{"capture", "cancel", "refund", "lookup_refund", "find"} {
		c.Activity = append(c.Activity, note(activity.NoteCall, what, "", "processing", 1, 3+float64(i)/10, 4))
	}
	for i, what := range []string{"confirm", "cancel", "cancel_order", "refund"} {
		c.Activity = append(c.Activity, note(activity.NoteCommand, what, shop, "", 1, 4+float64(i)/10, 4.5),
			note(activity.NoteReuse, what, "admin:ada", "", 2, 5+float64(i)/10, 5.5), note(activity.NoteRefused, what, customer, "busy", 1, 6+float64(i)/10, 6.5))
	}
	for i, outcome := range strings.Fields("payment_in_progress order_paid order_cancelled busy final not_capturable capture_exceeds not_refundable refund_exceeds refundable_changed new_one") {
		c.Activity = append(c.Activity, note(activity.NoteRefused, "pay", customer, outcome, 1+i%2, 7+float64(i)/10, 7+float64(i)/8))
	}
	c.Activity = append(c.Activity,
		note(activity.NoteReuse, "pay", customer, "", 1, 0.4, 0.4), note(activity.NoteReuse, "pay", customer, "", 3, 0.4, 1.2),
		note(activity.NoteReuse, "pay", shop, "", 1, 300, 300), note(activity.NoteReuse, "pay", customer, "took_over", 1, 31, 31),
		note(activity.NoteReuse, "pay", customer, "", 2, 7300, 300000),
		note(activity.NoteDuplicate, "webhook", "", "", 1, 25, 25), note(activity.NoteDuplicate, "webhook", "", "", 2, 26, 27))
	for i, kind := range strings.Fields("processing action_required authorized succeeded failed undone soft_failed reversed disputed dispute_closed refund_pending refund_succeeded refund_failed notice other") {
		c.Events = append(c.Events, told(kind, fsm.Applied, 30+float64(i)/10, true))
	}
	for i, verdict := range []fsm.Verdict{fsm.Repeat, fsm.Stale, fsm.Conflict, payment.VerdictUnmatched, payment.VerdictDeferred, payment.Ignored} {
		c.Events = append(c.Events, told("succeeded", verdict, 33+float64(i)/10, i != 0))
	}
	for i, kind := range strings.Fields("payment_attempt.succeeded payment_attempt.failed payment_attempt.authorized payment_attempt.updated refund.succeeded refund.failed other") {
		c.Messages = append(c.Messages, support.OutboxMessage{ID: someID, Type: kind, Version: i, CreatedAt: after(40 + float64(i))})
	}
	c.Messages[0].Deliveries = []support.Delivery{
		{Endpoint: "done", State: support.DeliveryOver, DeliveredAt: at(40.5)},
		{Endpoint: "done-again", State: support.DeliveryWaiting, Tries: 2, DeliveredAt: at(41)},
		{Endpoint: "slow", State: support.DeliveryAhead},
		{Endpoint: "behind", State: support.DeliveryWaiting},
		{Endpoint: "once", State: support.DeliveryWaiting, Tries: 1},
		{Endpoint: "often", State: support.DeliveryWaiting, Tries: 3},
		{Endpoint: "dead", State: support.DeliveryDead, Tries: 10},
		{Endpoint: "gone", State: support.DeliveryAhead, Gone: true},
	}
	settled := support.Discrepancy{Discrepancy: payment.Discrepancy{Kind: payment.LateSuccess, Text: "Money came in late.", At: after(50)}}
	settled.Resolved = &payment.Resolved{Resolution: payment.ResolvedRefundedElsewhere, By: "ann", Reason: "Refunded in the dashboard", At: after(51)}
	c.Discrepancies = append(c.Discrepancies, settled)
	for i, d := range []support.AuditEntry{
		{Action: support.Rechecked, Outcome: support.Begun, ActionID: someID},
		{Action: support.Rechecked, Outcome: support.Done, ActionID: someID},
		{Action: support.Rechecked, Outcome: support.Begun, ActionID: uuid.Max},
		{Action: support.ReplayedEvent, Outcome: support.Failed},
		{Action: support.RevealedEvent, Outcome: support.Done},
		{Action: support.Resolved, Outcome: support.Refused},
		{Action: support.Resolved, Outcome: support.Done},
	} {
		d.Actor, d.Reason, d.At = "ann", "case 4711", after(60+float64(i))
		c.Audit = append(c.Audit, d)
	}
	var text strings.Builder
	last := time.Time{}
	for _, e := range c.Timeline() {
		detail, err := json.Marshal(e.Detail)
		require.NoError(t, err)
		require.False(t, e.At.Before(last), "oldest first")
		last = e.At
		require.NotContains(t, e.Text, "  ")
		require.True(t, strings.HasSuffix(e.Text, ".") || strings.Contains(e.Text, "Reason: "), e.Text)
		text.WriteString(e.At.Format("15:04:05.000") + " " + string(e.Kind) + " " + e.Actor + "\n\t" + e.Text + "\n\t" + string(detail) + "\n")
	}
	golden(t, "timeline", text.String())
}

func TestReplayText(t *testing.T) {
	t.Parallel()
	before := payment.Attempt{State: fsm.Succeeded, Version: 2}
	after := before
	after.Version, after.Refunded = 3, 500
	r := intake.Replayed{Verdict: fsm.Applied, Before: &before, After: &after, Opened: []payment.DiscrepancyKind{payment.Disputed, payment.LateSuccess}}
	require.Equal(t, "The event was applied again. This was new and was applied. Attempt "+after.ID.String()+
		" stays succeeded; its amounts or ids change. It needs review: disputed, late_success.", support.ReplayText(r, false))
}

func TestEventSentenceOfProvenNotice(t *testing.T) {
	t.Parallel()
	e := support.Event{Unsigned: true, Kind: "succeeded", Verdict: fsm.Applied, Kept: true}
	require.Equal(t, "The provider reported that the payment succeeded. This was new and was applied.", e.Sentence())
	e.Verdict = payment.Ignored
	require.Contains(t, e.Sentence(), "The notice may be forged")
}
