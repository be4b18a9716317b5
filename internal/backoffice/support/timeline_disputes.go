package support

import (
	"maps"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

// dispute returns the timeline entries for a dispute's beginning and end.
func (h AttemptHistory) dispute(d payment.Dispute) []Entry {
	detail := map[string]any{"dispute_id": d.ID.String(), "provider_dispute_id": d.ProviderDisputeID, "reason": d.Reason}
	of := ""
	if d.Money != nil {
		of = " of " + amount.Of(*d.Money)
		detail["amount"], detail["currency"] = d.Money.Minor, string(d.Money.Currency)
	}
	text := "The provider reported a dispute" + of + " by the cardholder."
	if !d.DueBy.IsZero() {
		text += " The shop may respond until " + clock(d.DueBy) + "."
	}
	entries := []Entry{{d.OpenedAt, EntryDispute, h.provider(), text, detail}}
	if d.ClosedAt == nil {
		return entries
	}
	detail = maps.Clone(detail)
	detail["dispute_status"] = string(d.State)
	return append(entries, Entry{*d.ClosedAt, EntryDispute, h.provider(), "The dispute" + of + " " + disputeEnds[d.State], detail})
}

var disputeEnds = map[fsm.DisputeState]string{ //nolint:gochecknoglobals // a table
	fsm.DisputeWon:      "was closed in the shop's favour.",
	fsm.DisputeLost:     "was lost: it was closed in the cardholder's favour.",
	fsm.DisputeAccepted: "was accepted by the shop.",
}
