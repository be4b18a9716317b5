package support

import (
	"maps"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// dispute returns the entries of a dispute's opening and its end.
func (h AttemptHistory) dispute(d payment.Dispute) []Entry {
	detail := map[string]any{"dispute_id": d.ID.String(), "provider_dispute_id": d.ProviderDisputeID, "reason": d.Reason}
	of := ""
	if d.Money != nil {
		of = " of " + d.Money.String()
		detail["amount"], detail["currency"] = d.Money.Minor, string(d.Money.Currency)
	}
	text := "The cardholder's dispute" + of + " was reported."
	if !d.DueBy.IsZero() {
		text += " The provider takes an answer until " + clock(d.DueBy) + "."
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
	fsm.DisputeWon:      "is over and was not lost.",
	fsm.DisputeLost:     "was lost: it was decided for the cardholder.",
	fsm.DisputeAccepted: "was accepted without a defence.",
}
