package support

import (
	"cmp"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/engine/activity"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

// activity returns the timeline entry for a request or a call.
func (h AttemptHistory) activity(n activity.Note) Entry {
	n.Actor = h.requester(n)
	detail := map[string]any{"what": n.What}
	if n.Key != "" {
		detail["key"] = n.Key
	}
	if n.Outcome != "" {
		detail["outcome"] = n.Outcome
	}
	if strings.HasSuffix(n.What, "refund") && n.RefundID != (payment.RefundID{}) {
		detail["refund_id"] = n.RefundID.String()
	}
	switch n.Kind {
	case activity.NoteCall, activity.NotePoll:
		detail["took_ms"], detail["began_at"] = n.Until.Sub(n.At).Milliseconds(), n.At.UTC().Format(time.RFC3339Nano)
		return Entry{h.ended(n), callKinds[n.Kind], ourselves, h.called(n), detail}
	case activity.NoteDuplicate:
		detail["times"] = n.Times
		text := "The provider sent a webhook " + strings.TrimSuffix(repeated("again", n.Times), ",") + " that had been received before; nothing changed."
		return Entry{n.At, EntryWebhook, h.provider(), text, detail}
	case activity.NoteCommand:
		if n.What == commands.AmendName {
			return Entry{n.At, EntryRequest, n.Actor, commander(n.Actor) + " amended the order " + cmp.Or(n.Outcome, "without another price") + ".", detail}
		}
		return Entry{n.At, EntryRequest, n.Actor, commander(n.Actor) + " requested " + sentence(requested, n.What, "a change") + ".", detail}
	case activity.NoteRefused:
		detail["times"] = n.Times
		return Entry{n.At, EntryRefused, n.Actor, h.refused(n), detail}
	case activity.NoteReuse:
	}
	detail["times"] = n.Times
	return Entry{n.At, EntryReuse, n.Actor, h.reused(n), detail}
}

// ended returns when a call ended: entries from the time of the call come before it. The clocks of the process and of the storage
// may differ a little, so a call that changed the payment is not placed behind that change.
func (h AttemptHistory) ended(n activity.Note) time.Time {
	for _, t := range h.Transitions {
		if t.Cause.Kind == payment.CauseCall && t.Cause.ID == n.Key && n.Key != "" && t.At.Before(n.Until) && t.At.After(n.At) {
			return t.At.Add(-time.Microsecond)
		}
	}
	return n.Until
}

var callKinds = map[activity.NoteKind]EntryKind{ //nolint:gochecknoglobals // a table
	activity.NoteCall: EntryCall, activity.NotePoll: EntryPoll,
}

// requester returns the actor of a request, whichever way it came: a pay is its
// customer's, and staff is staff by the API, too.
func (h AttemptHistory) requester(n activity.Note) string {
	role, name, _ := strings.Cut(n.Actor, ":")
	switch {
	case n.What == "pay" && role == string(payment.RoleService):
		return h.customer()
	case role == string(payment.RoleAdmin), role == string(payment.RoleSupport):
		return "staff:" + name
	}
	return n.Actor
}

// commander returns the actor of a request for a sentence.
func commander(actor string) string {
	switch role, name, _ := strings.Cut(actor, ":"); role {
	case string(payment.RoleService):
		return "The shop"
	case "staff":
		return name
	}
	return "The customer"
}

var requested = map[string]string{ //nolint:gochecknoglobals // a table
	"complete":     "the next step of the payment",
	"confirm":      "the capture of the held money",
	"cancel":       "the cancellation of the payment",
	"cancel_order": "the cancellation of the order",
	"amend_order":  "an amendment of the order",
	"refund":       "a refund",
}

func (h AttemptHistory) reused(n activity.Note) string {
	when := later(h.Attempt.CreatedAt, n.Times, n.At, n.Until)
	if n.What != "pay" {
		return commander(n.Actor) + " requested " + sentence(requested, n.What, "the same") + " " + strings.TrimSuffix(repeated("again", n.Times), ",") + "; it was done once."
	}
	pressed := commander(n.Actor) + " pressed Pay " + repeated("again", n.Times) + " " + when
	if n.Outcome == "took_over" {
		return pressed + "; the first request had been interrupted and was continued. Nothing was charged twice."
	}
	return pressed + "; nothing was charged twice."
}

func (h AttemptHistory) refused(n activity.Note) string {
	reason := sentence(refusals, n.Outcome, "of the payment's status")
	if n.What != "pay" {
		return commander(n.Actor) + " requested " + sentence(requested, n.What, "a change") + "; it was refused because " + reason + "."
	}
	return commander(n.Actor) + " pressed Pay " + repeated("for a new payment", n.Times) + " " + later(h.Attempt.CreatedAt, n.Times, n.At, n.Until) +
		"; it was refused because " + reason + ". Nothing was charged twice."
}

var refusals = map[string]string{ //nolint:gochecknoglobals // a table
	"payment_in_progress": "this payment was in progress",
	"order_paid":          "the order was paid already",
	"order_cancelled":     "the order was cancelled",
	"order_changed":       "the order had changed meanwhile",
	"busy":                "another request was in progress",
	"final":               "the payment was final",
	"not_capturable":      "there was no held money to capture",
	"capture_exceeds":     "the amount was larger than the held amount",
	"not_refundable":      "there was no money to refund",
	"refund_exceeds":      "the amount was larger than the refundable amount",
	"refundable_changed":  "the refundable amount differed from the expected amount",
}

// called returns a call to the provider and its result.
func (h AttemptHistory) called(n activity.Note) string {
	call := "paylatch asked the provider " + h.question(n)
	took := span(n.Until.Sub(n.At))
	switch n.Outcome {
	case "unknown":
		if n.Kind == activity.NotePoll {
			return call + "; no usable answer came within " + took + "."
		}
		return call + "; no usable answer came within " + took + ", so the outcome was unknown."
	case "not_sent":
		return call + "; nothing was sent: the provider could not be reached, or does not support this."
	}
	return call + "; it answered after " + took + ": " + sentence(results[n.What], n.Outcome, sentence(results[""], n.Outcome, n.Outcome)) + "."
}

func (h AttemptHistory) question(n activity.Note) string {
	switch n.What {
	case "charge":
		return "to charge " + amount.Of(h.Attempt.Money)
	case "capture":
		return "to capture the held money"
	case "cancel":
		return "to cancel the payment"
	case "refund":
		for _, r := range h.Refunds {
			if r.ID == n.RefundID {
				return "to refund " + amount.Of(r.Money)
			}
		}
		return "to refund money"
	case "lookup_refund":
		return "for the status of a refund"
	}
	return "for the status of the payment"
}

// results maps outcomes to words, by the operation: an ended payment is the success of
// a cancellation, and a refusal of a charge.
var results = map[string]map[string]string{ //nolint:gochecknoglobals // a table
	"charge":        {"succeeded": "paid", "failed": "declined", "soft_failed": "declined for now"},
	"capture":       {"succeeded": "captured", "failed": "declined", "soft_failed": "declined for now"},
	"cancel":        {"succeeded": "it was paid already", "failed": "cancelled"},
	"refund":        {"succeeded": "refunded", "failed": "declined", "processing": "pending"},
	"lookup_refund": {"succeeded": "refunded", "failed": "declined", "processing": "pending"},
	"": {
		"succeeded":       "it is paid",
		"failed":          "it ended without a payment",
		"soft_failed":     "it was declined for now",
		"processing":      "it is still processing",
		"action_required": "the customer has to confirm it first",
		"authorized":      "the money is held",
		"refused":         "it refused the request",
		"not_found":       "it has no such payment",
		"reversed":        "the capture was reversed",
		"disputed":        "the cardholder disputes the payment",
	},
}
