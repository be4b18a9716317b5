package support

import (
	"cmp"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/activity"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

// Entry is one event of a timeline, with a sentence that can be read to a customer.
type Entry struct {
	At   time.Time
	Kind EntryKind
	// Actor is customer:, service:, admin:, provider: or staff: and a name, or paylatch.
	Actor, Text string
	// Detail is for a closer look.
	Detail map[string]any
}

// Tone returns good or bad for the end of a payment or a refund, else empty.
func (e Entry) Tone() string {
	end := e.Detail["status"]
	if e.Kind == EntryTransition && e.Detail["from"] != e.Detail["to"] {
		end = e.Detail["to"]
	}
	switch end {
	case string(fsm.Succeeded):
		return "good"
	case string(fsm.Failed):
		return "bad"
	}
	return ""
}

// EntryKind is the kind of an entry.
type EntryKind string

// The kinds of entries.
const (
	EntryPay         EntryKind = "pay"
	EntryRequest     EntryKind = "press"
	EntryReuse       EntryKind = "reuse"
	EntryRefused     EntryKind = "refused"
	EntryCall        EntryKind = "provider_call"
	EntryPoll        EntryKind = "poll"
	EntryWebhook     EntryKind = "webhook"
	EntryTransition  EntryKind = "transition"
	EntryRefund      EntryKind = "refund"
	EntryDispute     EntryKind = "dispute"
	EntrySettlement  EntryKind = "settlement"
	EntryMessage     EntryKind = "news"
	EntryDiscrepancy EntryKind = "discrepancy"
	EntryStaff       EntryKind = "staff_action"
)

const ourselves = "paylatch"

func (h AttemptHistory) provider() string { return "provider:" + h.Attempt.Account }

func (h AttemptHistory) customer() string { return "customer:" + string(h.Attempt.UserID) }

// Timeline returns the entries of an attempt, oldest first. Entries of the same time are in the order of their versions.
func (h AttemptHistory) Timeline() []Entry {
	entries := h.moves()
	for _, n := range h.Activity {
		entries = append(entries, h.activity(h.afterPay(n)))
	}
	for _, e := range h.Events {
		entries = append(entries, h.webhook(e))
	}
	for _, r := range h.Refunds {
		entries = append(entries, h.refund(r)...)
	}
	for _, d := range h.Attempt.Disputes {
		entries = append(entries, h.dispute(d)...)
	}
	for _, s := range h.Settlements {
		entries = append(entries, h.settlement(s))
	}
	for _, n := range h.Messages {
		entries = append(entries, message(n))
	}
	for _, d := range h.Discrepancies {
		entries = append(entries, discrepancy(d)...)
	}
	for _, d := range h.Audit {
		if h.standsAlone(d) {
			entries = append(entries, staffAction(d))
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(a.At.UnixMicro(), b.At.UnixMicro()) })
	return entries
}

// afterPay moves an activity of the attempt behind the pay that created it: of two
// concurrent requests the process sees the second before the storage has the first.
func (h AttemptHistory) afterPay(n activity.Note) activity.Note {
	if n.AttemptID != (payment.AttemptID{}) && n.At.Before(h.Attempt.CreatedAt) {
		lead := h.Attempt.CreatedAt.Sub(n.At)
		n.At, n.Until = n.At.Add(lead), n.Until.Add(lead)
	}
	return n
}

// moves returns the entries of the attempt's own log; the first is the pay that created
// it.
func (h AttemptHistory) moves() []Entry {
	entries := make([]Entry, 0, len(h.Transitions))
	var before payment.Facts
	for i, t := range h.Transitions {
		detail := map[string]any{
			"version": t.Version, "from": string(t.From), "to": string(t.To), "cause": string(t.Cause.Kind), "cause_id": t.Cause.ID,
		}
		switch {
		case i == 0 && t.Cause.Kind == payment.CausePay:
			entries = append(entries, Entry{t.At, EntryPay, h.customer(), h.pressed(), detail})
		case i == 0 && t.Cause.Kind == payment.CauseImport:
			entries = append(entries, Entry{t.At, EntryTransition, ourselves, imported, detail})
		default:
			entries = append(entries, Entry{t.At, EntryTransition, h.causer(t.Cause), h.moved(t, before), detail})
		}
		before = t.Facts
	}
	return entries
}

const imported = "The payment was made before paylatch was in use; it was imported later, together with its outcome."

func (h AttemptHistory) pressed() string {
	if h.Attempt.Origin == payment.OriginExternal {
		return "The shop registered a payment of " + amount.Of(h.Attempt.Money) + " that it starts at the provider itself."
	}
	text := "The customer pressed Pay for " + amount.Of(h.Attempt.Money) + "."
	switch h.Attempt.Capture {
	case payment.CaptureManual:
		text += " The money is held first and captured later."
	case payment.CaptureSeveral:
		text += " The money is held first and captured later, in parts."
	case payment.CaptureAutomatic:
	}
	return text
}

func (h AttemptHistory) causer(cause payment.Cause) string {
	switch cause.Kind {
	case payment.CauseCall, payment.CauseWebhook:
		return h.provider()
	case payment.CausePerson:
		return "staff:" + cause.ID
	case payment.CauseReport:
		return "service:shop"
	case payment.CausePay, payment.CauseCheck, payment.CauseImport:
	}
	return ourselves
}

// moved returns the change of a version.
func (h AttemptHistory) moved(t payment.Transition, before payment.Facts) string {
	switch {
	case t.From == t.To:
		return h.counted(t.Facts, before)
	case t.Cause.Kind == payment.CauseReport:
		return "The payment failed, as the shop reported: " + t.Cause.ID + "."
	}
	switch t.To {
	case fsm.Succeeded:
		return "The payment succeeded: " + h.money(t.Facts.Captured) + " was captured."
	case fsm.Failed:
		return "The payment failed: " + h.failure()
	case fsm.OutcomeUnknown:
		return "It is still unknown whether the payment reached the provider. paylatch checks its status with the provider; nothing is charged twice."
	case fsm.Processing:
		return "The provider has the payment and is processing it."
	case fsm.AwaitingCustomer:
		return "The provider waits for the customer to confirm the payment on its page."
	case fsm.Authorized:
		return "The provider holds " + h.money(t.Facts.Authorized) + " of the customer's money, which is not captured yet."
	case fsm.Requested:
	}
	return "The payment was started."
}

// counted returns the change of the amounts and ids while the state stayed.
func (h AttemptHistory) counted(now, before payment.Facts) string {
	switch {
	case now.Captured > before.Captured && now.State == fsm.Failed:
		return "The provider captured " + h.money(now.Captured) + " although the payment had failed."
	case now.Captured < before.Captured:
		return "The provider reversed " + h.money(before.Captured-now.Captured) + " that had been captured."
	case now.Captured != before.Captured:
		return "The provider reported that it captured " + h.money(now.Captured) + "."
	case now.Disputed > before.Disputed:
		return h.money(now.Disputed-before.Disputed) + " was charged back: the cardholder's bank took it back."
	case now.Disputed < before.Disputed:
		return "A chargeback was reversed: " + h.money(before.Disputed-now.Disputed) + " came back to the shop."
	case now.Refunded > before.Refunded && before.Refunded > 0:
		return h.money(now.Refunded-before.Refunded) + " was refunded, " + h.money(now.Refunded) + " in all."
	case now.Refunded > before.Refunded:
		return h.money(now.Refunded) + " was refunded."
	case now.Refunded != before.Refunded:
		return "A refund was reversed: " + h.money(now.Refunded) + " is refunded in all."
	case now.Review != before.Review:
		return reviewMoves[now.Review]
	case now.ProviderPaymentID != before.ProviderPaymentID:
		return "The provider's id of the payment is " + now.ProviderPaymentID + "."
	}
	return "Details of the payment changed."
}

// reviewMoves maps the status that the provider's review has reached.
var reviewMoves = map[payment.ReviewStatus]string{ //nolint:gochecknoglobals // a table
	payment.ReviewOpen:     "The provider began to review the payment.",
	payment.ReviewApproved: "The provider's review approved the payment.",
	payment.ReviewDeclined: "The provider's review declined the payment.",
}

func (h AttemptHistory) money(minor int64) string {
	return amount.In(h.Attempt.Money.Currency, minor)
}

func (h AttemptHistory) failure() string {
	if f := h.Attempt.Failure; f != nil && f.Message != "" {
		return f.Message
	}
	return "the provider gave no reason."
}
