package support

import (
	"slices"

	"github.com/paylatch/paylatch/internal/payment"
)

// discrepancy returns the timeline entries for a discrepancy's beginning and resolution.
func discrepancy(d Discrepancy) []Entry {
	detail := map[string]any{"discrepancy_id": d.ID.String(), "kind": string(d.Kind)}
	entries := []Entry{{d.At, EntryDiscrepancy, ourselves, "This needs review. " + d.Text, detail}}
	if r := d.Resolved; r != nil && r.Resolution == payment.ResolvedSettled {
		entries = append(entries, Entry{r.At, EntryDiscrepancy, ourselves, "This needs no review any more. " + r.Reason, detail})
	} else if r != nil {
		detail := map[string]any{
			"action": string(Resolved), "discrepancy_id": d.ID.String(), "kind": string(d.Kind),
			"resolution": string(r.Resolution), "reason": r.Reason, "outcome": string(Done),
		}
		text := r.By + " resolved this as " + sentence(resolutions, string(r.Resolution), string(r.Resolution))
		if first := d.Confirmed(); first != "" {
			text += ", as " + first + " had before"
		}
		text += ". Reason: " + r.Reason
		entries = append(entries, Entry{r.At, EntryStaff, "staff:" + r.By, text, detail})
	}
	return entries
}

var resolutions = map[string]string{ //nolint:gochecknoglobals // a table
	"paid":               "paid",
	"not_paid":           "not paid",
	"refunded_elsewhere": "refunded elsewhere",
	"accepted":           "accepted unchanged",
}

// standsAlone reports whether an entry of the audit log has content of its own. An entry with the outcome begun has a
// second entry; a resolution is shown with its discrepancy.
func (h AttemptHistory) standsAlone(d AuditEntry) bool {
	switch {
	case d.Action == Resolved:
		return d.Outcome != Done
	case d.Outcome != Begun:
		return true
	}
	return !slices.ContainsFunc(h.Audit, func(e AuditEntry) bool { return e.ActionID == d.ActionID && e.Outcome != Begun })
}

func staffAction(d AuditEntry) Entry {
	text := d.Actor + " " + sentence(staffActions, string(d.Action), "made a change: "+string(d.Action))
	if by, of := d.Detail["requested_by"].(string); of && by != d.Actor {
		text += " that " + by + " had requested"
	}
	switch d.Outcome {
	case Begun:
		text += "; the outcome is unknown"
	case Refused:
		text += "; this was refused"
	case Failed:
		text += "; this failed"
	case Done:
	}
	text += "."
	if d.Reason != "" {
		text += " Reason: " + d.Reason
	}
	detail := map[string]any{"action": string(d.Action), "target": d.Target, "reason": d.Reason, "outcome": string(d.Outcome)}
	if job, of := d.Detail["job_id"]; of {
		detail["job_id"] = job
	}
	return Entry{d.At, EntryStaff, "staff:" + d.Actor, text, detail}
}

var staffActions = map[string]string{ //nolint:gochecknoglobals // a table
	string(Rechecked):      "re-checked the status with the provider",
	string(ReplayedEvent):  "replayed a webhook",
	string(ReplayedMany):   "replayed a webhook, in a bulk job",
	string(RevealedEvent):  "revealed the raw payload of a webhook, personal data included",
	string(Resolved):       "resolved a case",
	string(Assigned):       "assigned a case",
	string(Commented):      "commented on a case",
	string(Proposed):       "proposed a resolution of a case; a second person must confirm it",
	string(Refunded):       "requested a refund",
	string(AskedForRefund): "requested a refund that an admin must approve",
	string(ApprovedRefund): "approved a refund",
	string(DeclinedRefund): "declined a refund",
	"confirm":              "requested the capture of the held money",
	"cancelAttempt":        "requested the cancellation of the payment",
}
