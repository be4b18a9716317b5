package support

import (
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

// settlement returns the timeline entry for a movement's settlement: its fees and its payout.
func (h AttemptHistory) settlement(s payment.Settlement) Entry {
	at := s.At
	if at.IsZero() {
		at = s.RecordedAt
	}
	text := "The provider booked the " + strings.ReplaceAll(string(s.Kind), "_", " ") + " of " + amount.Of(s.Money)
	detail := map[string]any{"entry_id": s.EntryID, "movement": string(s.Kind), "amount": s.Money.Minor, "currency": string(s.Money.Currency)}
	if s.Fee != nil {
		text += ", with a fee of " + amount.Of(*s.Fee)
		detail["fee"], detail["balance_currency"] = s.Fee.Minor, string(s.Fee.Currency)
	}
	if s.Net != nil {
		text += ", net " + amount.Of(*s.Net)
		detail["net"], detail["balance_currency"] = s.Net.Minor, string(s.Net.Currency)
	}
	if s.PayoutID != "" {
		text += ", in the payout " + s.PayoutID
		detail["payout_id"] = s.PayoutID
	}
	return Entry{at, EntrySettlement, h.provider(), text + ".", detail}
}
