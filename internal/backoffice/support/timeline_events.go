package support

import (
	"fmt"
	"maps"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/activity"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

func (h AttemptHistory) webhook(e Event) Entry {
	return Entry{e.ReceivedAt, EntryWebhook, h.provider(), e.Sentence(), map[string]any{
		"event_id": e.ID.String(), "provider_event_id": e.ProviderEventID, "type": e.Type, "kind": e.Kind, "verdict": string(e.Verdict),
		"raw_kept": e.Kept,
	}}
}

// arrivals are the sentences on how events came that were not delivered and proven at once.
var arrivals = map[string]string{ //nolint:gochecknoglobals // a table
	payment.TakenListed: " It was read from the provider's list of events.",
	payment.TakenLater:  " Its signature did not match the secrets at that time; paylatch verified it again after the secrets changed.",
}

// Sentence returns the report of an event and its verdict.
func (e Event) Sentence() string {
	text := "The provider reported " + sentence(reports, e.Kind, "an event of another kind")
	if e.Money != nil {
		text += " (" + amount.Of(*e.Money) + ")"
	}
	text += ". " + sentence(verdicts, string(e.Verdict), "It was kept.")
	if e.Unsigned && e.Verdict == payment.Ignored {
		text = "paylatch received an unsigned notice of this payment. The provider does not have the payment, or could not be asked. The notice may be forged; nothing changed."
	}
	text += arrivals[e.Taken]
	if !e.Kept {
		text += " Its raw bytes were deleted, after the retention time or by an erasure of the customer's data."
	}
	return text
}

var reports = map[string]string{ //nolint:gochecknoglobals // a table
	"processing":       "that the payment is being processed",
	"action_required":  "that the customer has to confirm the payment",
	"authorized":       "that the money is held",
	"succeeded":        "that the payment succeeded",
	"failed":           "that the payment failed",
	"undone":           "that the payment is over, and that no money of it was kept",
	"soft_failed":      "that the payment was declined for now",
	"reversed":         "that a capture was reversed",
	"disputed":         "that the cardholder disputes the payment",
	"dispute_closed":   "that a dispute was closed",
	"chargeback":       "that the payment was charged back",
	"refund_pending":   "that a refund is pending",
	"refund_succeeded": "that a refund succeeded",
	"refund_failed":    "that a refund failed",
	"review":           "on its review of the payment",
	"method_updated":   "that the stored payment method changed",
	"method_removed":   "that the stored payment method was removed",
	"notice":           "that something about the payment changed",

	"chargeback_reversed": "that a chargeback was reversed",
}

var verdicts = map[string]string{ //nolint:gochecknoglobals // a table
	string(fsm.Applied):               "This was new and was applied.",
	string(fsm.Repeat):                "This was known already; nothing changed.",
	string(fsm.Stale):                 "This was older than the known status; nothing changed.",
	string(fsm.Conflict):              "This contradicts the known status: the payment does not change, and a person must review it.",
	string(payment.VerdictUnmatched):  "paylatch had no payment with this id yet; the event is applied once the payment exists.",
	string(payment.VerdictDeferred):   "It is applied once paylatch has checked it with the provider.",
	string(payment.VerdictUnreadable): "This version of paylatch can't read the event, and keeps it for a later version.",
	string(payment.Ignored):           "The event has no payment status; nothing changed.",
	string(payment.VerdictForeign):    "The event belongs to a payment that was not made through paylatch. It is not tried again, but is applied if a payment with its id appears within 30 days.",
}

// refund returns the entries of a refund's request and its end.
func (h AttemptHistory) refund(r payment.Refund) []Entry {
	detail := map[string]any{"refund_id": r.ID.String(), "provider_refund_id": r.ProviderRefundID, "amount": r.Money.Minor, "currency": string(r.Money.Currency)}
	actor, text := h.refunder(r), "A refund of "+amount.Of(r.Money)+" was requested."
	switch r.Origin {
	case payment.RefundByRequest:
		if d := h.approval(r.ID); d != nil {
			actor = "staff:" + d.Actor
			text = fmt.Sprintf("A refund of %s was requested by %v and approved by %s.", amount.Of(r.Money), d.Detail["requested_by"], d.Actor)
		}
	case payment.RefundByProvider:
		actor, text = h.provider(), "A refund of "+amount.Of(r.Money)+" was made in the provider's own dashboard."
	case payment.RefundByPolicy:
		actor, text = ourselves, "A refund of "+amount.Of(r.Money)+" was started, because this account refunds late money automatically."
	}
	entries := []Entry{{r.CreatedAt, EntryRefund, actor, text, detail}}
	if r.FinalizedAt == nil {
		return entries
	}
	detail = maps.Clone(detail)
	detail["status"] = string(r.State)
	actor, text = h.provider(), "The refund of "+amount.Of(r.Money)+" succeeded: the provider returns the money."
	if by := h.decided(r); by != "" {
		actor, text = "staff:"+by, "The refund of "+amount.Of(r.Money)+" succeeded: "+by+" found it at the provider."
	}
	if r.State == fsm.RefundFailed {
		text = "The refund of " + amount.Of(r.Money) + " failed; the customer does not get this money."
		if r.Failure != nil {
			text += " " + r.Failure.Message
		}
	}
	return append(entries, Entry{*r.FinalizedAt, EntryRefund, actor, text, detail})
}

// decided returns the person that ended a refund, if one did: a resolution and its
// money movement have the same time.
func (h AttemptHistory) decided(r payment.Refund) string {
	for _, d := range h.Discrepancies {
		id, of := d.Refund()
		if of && id == r.ID && d.Resolved != nil && d.Resolved.Resolution.Decides() && d.Resolved.At.Equal(*r.FinalizedAt) {
			return d.Resolved.By
		}
	}
	return ""
}

// approval returns the audit entry of the approval that made a refund; nil if there is no approval.
func (h AttemptHistory) approval(id payment.RefundID) *AuditEntry {
	i := slices.IndexFunc(h.Audit, func(d AuditEntry) bool { return d.Action == ApprovedRefund && d.Detail["refund_id"] == id.String() })
	if i < 0 {
		return nil
	}
	return &h.Audit[i]
}

// refunder returns the actor of a refund: that of its request, or staff, if the audit
// log has it. A shop acts on behalf of its customer.
func (h AttemptHistory) refunder(r payment.Refund) string {
	for _, n := range h.Activity {
		if n.Kind == activity.NoteCommand && n.What == "refund" && n.RefundID == r.ID {
			return h.requester(n)
		}
	}
	user := string(r.UserID)
	switch {
	case slices.ContainsFunc(h.Audit, func(d AuditEntry) bool { return d.Action == Refunded && d.Actor == user }):
		return "staff:" + user
	case r.UserID == h.Attempt.UserID:
		return "service"
	}
	return "service:" + user
}
