package console

import (
	"cmp"
	"strings"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/console/strip"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

// CourseOf makes the pictures of package strip from support's history of a payment and of an order. It is pure.
//
// A strip has lanes for the customer, paylatch and the provider. Notifications to the shop, settlements and changes of
// details are in the timeline alone.

// CourseOf returns the course of a payment.
func CourseOf(a support.Attempt) strip.Course {
	c := strip.Course{ID: "strip", Title: "The history of the payment of " + amount.Of(a.Money), End: stateNow(a.Attempt)}
	switch a.State {
	case fsm.Succeeded:
		if !a.Returned() {
			c.Tone = strip.Good
		}
	case fsm.Failed:
		c.Tone = strip.Bad
	case fsm.Requested, fsm.Processing, fsm.OutcomeUnknown, fsm.AwaitingCustomer, fsm.Authorized:
	}
	for _, e := range a.Timeline {
		if m, drawn := markOf(a, e); drawn {
			m.Text = e.Text
			m.Times = cmp.Or(m.Times, number(e, "times"))
			c.Marks = append(c.Marks, m)
		}
	}
	for _, m := range a.Movements {
		c.Marks = append(c.Marks, movementOf(m))
	}
	return c
}

// stateNow is the state of a payment in words. After the money of a success went back, it names the way back.
func stateNow(a payment.Attempt) string {
	switch {
	case !a.Succeeded() || !a.Returned():
		return StateWords(a.State)
	case a.AmountDisputed() > 0 && a.Refunded == 0:
		return "charged back"
	case a.Refunded > 0 && a.AmountDisputed() <= 0:
		return "refunded"
	case a.Refunded == 0:
		return "reversed"
	}
	return "refunded and charged back"
}

// stateClass is the colour of stateNow.
func stateClass(a payment.Attempt) string {
	if a.Succeeded() && a.Returned() {
		return "returned"
	}
	return string(a.State)
}

// StateWords is the state of a payment in words.
func StateWords(s fsm.State) string {
	switch s {
	case fsm.OutcomeUnknown:
		return "outcome unknown"
	case fsm.AwaitingCustomer:
		return "waiting for the customer"
	case fsm.Requested, fsm.Processing, fsm.Authorized, fsm.Succeeded, fsm.Failed:
	}
	return string(s)
}

// markOf returns the mark of an entry, without its sentence, and whether it has one.
func markOf(a support.Attempt, e support.Entry) (strip.Mark, bool) {
	m := strip.Mark{At: e.At}
	switch e.Kind {
	case support.EntryPay:
		m.Kind, m.Label = strip.Press, "Pay "+amount.Of(a.Money)
	case support.EntryReuse:
		m.Kind, m.Label = byActor(e, strip.Repeat), "again"
	case support.EntryRefused:
		m.Kind, m.Label = byActor(e, strip.Refused), "refused"
	case support.EntryRequest:
		m.Kind, m.Label = byActor(e, strip.Press), requests[text(e, "what")]
		return m, m.Label != ""
	case support.EntryCall, support.EntryPoll:
		return callOf(e), true
	case support.EntryWebhook:
		return webhookOf(e), true
	case support.EntryTransition:
		m.Kind, m.Label = strip.State, StateWords(fsm.State(text(e, "to")))
		return m, text(e, "from") != text(e, "to")
	case support.EntryRefund:
		return courseRefundOf(e)
	case support.EntryDispute:
		m.Kind, m.Label = strip.Dispute, "dispute "+cmp.Or(text(e, "dispute_status"), "opened")
	case support.EntryDiscrepancy:
		m.Kind, m.Label = strip.Review, "needs review"
	case support.EntryStaff:
		m.Kind, m.Label = strip.Request, staff[support.Action(text(e, "action"))]
		return m, m.Label != ""
	case support.EntrySettlement, support.EntryMessage:
		return m, false
	}
	return m, true
}

// byActor returns the kind of the customer's requests, and another one for those of the shop and of staff.
func byActor(e support.Entry, customers strip.Kind) strip.Kind {
	if strings.HasPrefix(e.Actor, "customer:") {
		return customers
	}
	return strip.Request
}

// requests are the words for requests; a refund has a mark of its own.
var requests = map[string]string{"confirm": "capture", "complete": "confirms", "cancel": "cancel", "cancel_order": "cancel order", "amend_order": "amend order"} //nolint:gochecknoglobals // a table

// staff names the actions of staff that concern the course; a refund has a mark of its own.
var staff = map[support.Action]string{ //nolint:gochecknoglobals // a table
	support.Rechecked: "re-check", support.ReplayedEvent: "replay", support.ReplayedMany: "replay", support.Resolved: "resolved", support.Proposed: "proposed",
}

func callOf(e support.Entry) strip.Mark {
	m := strip.Mark{Kind: strip.Call, At: e.At, Until: e.At}
	if began, err := time.Parse(time.RFC3339Nano, text(e, "began_at")); err == nil {
		m.At = began
	}
	what := cmp.Or(calls[text(e, "what")], "status check")
	outcome := text(e, "outcome")
	if outcome == "unknown" {
		m.Kind = strip.Unanswered
	}
	m.Label = what + ": " + cmp.Or(outcomes[what][outcome], outcomes[""][outcome], strings.ReplaceAll(outcome, "_", " "))
	return m
}

var calls = map[string]string{"charge": "charge", "complete": "complete", "capture": "capture", "cancel": "cancel", "refund": "refund", "lookup_refund": "refund check"} //nolint:gochecknoglobals // a table

var outcomes = map[string]map[string]string{ //nolint:gochecknoglobals // a table
	"charge":       {"failed": "declined"},
	"capture":      {"succeeded": "captured"},
	"cancel":       {"failed": "cancelled"},
	"refund":       {"succeeded": "refunded", "processing": "pending", "failed": "declined"},
	"refund check": {"succeeded": "refunded", "processing": "pending"},
	"": {
		"succeeded": "paid", "soft_failed": "declined for now", "action_required": "customer's turn", "authorized": "held", "unknown": "no answer",
		"not_found": "not found", "not_sent": "not sent",
	},
}

func webhookOf(e support.Entry) strip.Mark {
	kind := text(e, "kind")
	if kind == "" {
		return strip.Mark{Kind: strip.Duplicate, At: e.At, Label: "webhook again"}
	}
	m := strip.Mark{Kind: strip.Webhook, At: e.At, Label: "webhook: " + strings.ReplaceAll(kind, "_", " ")}
	switch fsm.Verdict(text(e, "verdict")) {
	case fsm.Stale:
		m.Kind, m.Label = strip.Duplicate, m.Label+", old"
	case fsm.Repeat:
		m.Kind, m.Label = strip.Duplicate, m.Label+", known"
	case fsm.Applied, fsm.Conflict:
	}
	return m
}

// courseRefundOf returns the mark of a refund's request, or of its failure: its money is a movement.
func courseRefundOf(e support.Entry) (strip.Mark, bool) {
	minor, _ := e.Detail["amount"].(int64)
	m := strip.Mark{At: e.At, Label: "refund " + amount.In(payment.Currency(text(e, "currency")), minor), Kind: strip.Request}
	switch text(e, "status") {
	case string(fsm.RefundSucceeded):
		return m, false
	case string(fsm.RefundFailed):
		m.Kind, m.Label = strip.State, m.Label+" failed"
	default:
		if strings.HasPrefix(e.Actor, "provider:") {
			m.Kind = strip.Dispute
		}
	}
	return m, true
}

// movementOf returns the mark of money that moved.
func movementOf(mv payment.Movement) strip.Mark {
	m := strip.Mark{At: mv.RecordedAt, Kind: strip.Hold, Label: amount.Of(mv.Money) + " "}
	m.Text = amount.Of(mv.Money) + ": " + strings.ReplaceAll(string(mv.Kind), "_", " ") + "."
	switch mv.Kind {
	case payment.MovementAuthorization:
		m.Label += "held"
	case payment.MovementRelease:
		m.Label += "released"
	case payment.MovementCapture:
		m.Kind, m.Label = strip.MoneyIn, m.Label+"captured"
	case payment.MovementCaptureReversal:
		m.Kind, m.Label = strip.MoneyBack, m.Label+"reversed"
	case payment.MovementRefund:
		m.Kind, m.Label = strip.MoneyBack, m.Label+"refunded"
	case payment.MovementRefundReversal:
		m.Kind, m.Label = strip.MoneyIn, m.Label+"refund reversed"
	case payment.MovementChargeback:
		m.Kind, m.Label = strip.MoneyBack, m.Label+"charged back"
	case payment.MovementChargebackReversal:
		m.Kind, m.Label = strip.MoneyIn, m.Label+"returned"
	}
	return m
}

func text(e support.Entry, name string) string {
	s, _ := e.Detail[name].(string)
	return s
}

func number(e support.Entry, name string) int {
	n, _ := e.Detail[name].(int)
	return n
}
