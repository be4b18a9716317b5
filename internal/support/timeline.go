package support

import (
	"cmp"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Entry is one thing that happened, with a sentence that can be read to a
// customer.
type Entry struct {
	At   time.Time
	Kind EntryKind
	// Actor is customer:, service:, admin:, provider: or staff: and a name, or paylatch.
	Actor, Text string
	// Detail is for those who have to look closer.
	Detail map[string]any
}

// Tone says whether an entry is the good or the bad end of a payment or a refund: good,
// bad, or neither.
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

// EntryKind says what an entry is of.
type EntryKind string

// The kinds of entries.
const (
	EntryPay         EntryKind = "pay"
	EntryPress       EntryKind = "press"
	EntryReuse       EntryKind = "reuse"
	EntryRefused     EntryKind = "refused"
	EntryCall        EntryKind = "provider_call"
	EntryPoll        EntryKind = "poll"
	EntryWebhook     EntryKind = "webhook"
	EntryTransition  EntryKind = "transition"
	EntryRefund      EntryKind = "refund"
	EntryNews        EntryKind = "news"
	EntryDiscrepancy EntryKind = "discrepancy"
	EntryStaff       EntryKind = "staff_action"
)

const ourselves = "paylatch"

func (c Case) provider() string { return "provider:" + c.Attempt.Account }

func (c Case) customer() string { return "customer:" + string(c.Attempt.UserID) }

// Timeline is the course of an attempt, oldest first. What happened at the same
// moment stands in the order of its versions.
func (c Case) Timeline() []Entry {
	entries := c.moves()
	for _, n := range c.Notes {
		entries = append(entries, c.noted(c.afterPay(n)))
	}
	for _, e := range c.Events {
		entries = append(entries, c.webhook(e))
	}
	for _, r := range c.Refunds {
		entries = append(entries, c.refund(r)...)
	}
	for _, n := range c.News {
		entries = append(entries, news(n))
	}
	for _, d := range c.Discrepancies {
		entries = append(entries, discrepancy(d)...)
	}
	for _, d := range c.Deeds {
		if c.tells(d) {
			entries = append(entries, deed(d))
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(a.At.UnixMicro(), b.At.UnixMicro()) })
	return entries
}

// afterPay moves a note of the attempt behind the press that made it: the process
// saw two presses at once before the storage wrote the first one down.
func (c Case) afterPay(n payment.Note) payment.Note {
	if n.AttemptID != (payment.AttemptID{}) && n.At.Before(c.Attempt.CreatedAt) {
		lead := c.Attempt.CreatedAt.Sub(n.At)
		n.At, n.Until = n.At.Add(lead), n.Until.Add(lead)
	}
	return n
}

// moves are the entries of the attempt's own log; the first is the press that
// made it.
func (c Case) moves() []Entry {
	entries := make([]Entry, 0, len(c.Transitions))
	var before payment.Facts
	for i, t := range c.Transitions {
		detail := map[string]any{
			"version": t.Version, "from": string(t.From), "to": string(t.To), "cause": string(t.Cause.Kind), "cause_id": t.Cause.ID,
		}
		if i == 0 && t.Cause.Kind == payment.CausePay {
			entries = append(entries, Entry{t.At, EntryPay, c.customer(), c.pressed(), detail})
		} else {
			entries = append(entries, Entry{t.At, EntryTransition, c.causer(t.Cause), c.moved(t, before), detail})
		}
		before = t.Facts
	}
	return entries
}

func (c Case) pressed() string {
	text := "The customer pressed Pay for " + c.Attempt.Money.String() + "."
	if c.Attempt.Capture == payment.CaptureManual {
		text += " The money was to be held first and taken later."
	}
	return text
}

func (c Case) causer(cause payment.Cause) string {
	switch cause.Kind {
	case payment.CauseCall, payment.CauseWebhook:
		return c.provider()
	case payment.CausePerson:
		return "staff:" + cause.ID
	case payment.CausePay, payment.CauseCheck:
	}
	return ourselves
}

// moved says what a version changed.
func (c Case) moved(t payment.Transition, before payment.Facts) string {
	if t.From == t.To {
		return c.counted(t.Facts, before)
	}
	switch t.To {
	case fsm.Succeeded:
		return "The payment succeeded: " + c.money(t.Facts.Captured) + " were taken."
	case fsm.Failed:
		return "The payment failed: " + c.failure()
	case fsm.OutcomeUnknown:
		return "Nobody knows yet whether the provider got the payment. It is being asked; nothing is charged twice."
	case fsm.Processing:
		return "The provider has the payment and has not decided yet."
	case fsm.AwaitingCustomer:
		return "The provider waits for the customer to confirm the payment on its page."
	case fsm.Authorized:
		return "The provider holds " + c.money(t.Facts.Authorized) + " of the customer's money; nothing of it is taken yet."
	case fsm.Requested:
	}
	return "The payment was begun."
}

// counted says what changed of the amounts and names while the state stayed.
func (c Case) counted(now, before payment.Facts) string {
	switch {
	case now.Captured > before.Captured && now.State == fsm.Failed:
		return "The provider took " + c.money(now.Captured) + " although the payment had failed."
	case now.Captured != before.Captured:
		return "The provider says that it took " + c.money(now.Captured) + "."
	case now.Reversed != before.Reversed:
		return "The provider took back " + c.money(now.Reversed) + " that had been paid."
	case now.Disputed > before.Disputed:
		return "A chargeback took " + c.money(now.Disputed-before.Disputed) + " that had been paid."
	case now.Disputed < before.Disputed:
		return c.money(before.Disputed-now.Disputed) + " that a chargeback took came back."
	case now.Refunded > before.Refunded && before.Refunded > 0:
		return c.money(now.Refunded-before.Refunded) + " were paid back, " + c.money(now.Refunded) + " in all."
	case now.Refunded > before.Refunded:
		return c.money(now.Refunded) + " were paid back."
	case now.Refunded != before.Refunded:
		return "A refund was undone: " + c.money(now.Refunded) + " are paid back in all."
	case now.ProviderPaymentID != before.ProviderPaymentID:
		return "The provider named the payment " + now.ProviderPaymentID + "."
	}
	return "Details of the payment changed."
}

func (c Case) money(minor int64) string {
	return payment.Money{Minor: minor, Currency: c.Attempt.Money.Currency}.String()
}

func (c Case) failure() string {
	if f := c.Attempt.Failure; f != nil && f.Message != "" {
		return f.Message
	}
	return "the provider gave no reason."
}
