package stripe

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// disputeStatuses translates the statuses of a dispute (https://docs.stripe.com/api/disputes/object, "status"). An
// inquiry that is closed has cost nothing. A dispute that was prevented was blocked, or resolved by giving the money
// back, see DisputeStatus. A dispute that the merchant accepts is lost, and may be appealed against
// (https://docs.stripe.com/changelog/endive/2026-10-28/evidence-submission-appeal-dispute-decisions; that an appeal is
// under review is from memory).
var disputeStatuses = map[read.Word]webhooks.DisputeStatus{
	"warning_needs_response": webhooks.DisputeWarning,
	"warning_under_review":   webhooks.DisputeWarning,
	"warning_closed":         webhooks.DisputeWon,
	"needs_response":         webhooks.DisputeOpen,
	"under_review":           webhooks.DisputeUnderReview,
	"won":                    webhooks.DisputeWon,
	"lost":                   webhooks.DisputeLost,
	"prevented":              webhooks.DisputeWon,
	"appeal_needs_response":  webhooks.DisputeOpen,
	"appeal_under_review":    webhooks.DisputeUnderReview,
}

// prevented is the status of a dispute that ended before it was a chargeback
// (https://docs.stripe.com/changelog/basil/2025-08-27/add-preventions-to-dispute).
const prevented = "prevented"

// DisputeStatus returns the dispute's status for one of Stripe's, empty for an unfamiliar one. A prevented dispute that
// holds the money was accepted by the merchant's rules.
func DisputeStatus(status string, holds bool) webhooks.DisputeStatus {
	if status == prevented && holds {
		return webhooks.DisputeAccepted
	}
	return disputeStatuses[read.Word(status)]
}

// Holds reports whether a dispute took more than it returned, by its entries.
func Holds(all []webhooks.DisputeEntry) bool {
	var held int64
	for _, entry := range all {
		if entry.Returned {
			held -= entry.Money.Minor
		} else {
			held += entry.Money.Minor
		}
	}
	return held > 0
}

// DisputeEntry returns the money that a balance transaction of a dispute took or returned. It returns false for any other
// transaction, such as a fee. The amount of a balance transaction is in the currency of the balance. If this differs from
// the dispute's currency, the entry has the dispute's amount
// (https://docs.stripe.com/api/disputes/object, "balance_transactions").
func DisputeEntry(id string, amount int64, currency, category string, at time.Time, of webhooks.Money) (webhooks.DisputeEntry, bool) {
	if id == "" || amount == 0 || category != "" && category != "dispute" && category != "dispute_reversal" {
		return webhooks.DisputeEntry{}, false
	}
	entry := webhooks.DisputeEntry{ID: id, Returned: amount > 0, Money: of, At: at}
	if moved, err := Money(max(amount, -amount), cmp.Or(currency, of.Currency)); err == nil && moved.Currency == of.Currency {
		entry.Money = moved
	}
	return entry, true
}

// balanceTransaction is one of a dispute's, which may come as its id alone.
type balanceTransaction struct {
	ID       string          `json:"id"`
	Amount   *read.Integer   `json:"amount"`
	Currency read.Note       `json:"currency"`
	Category read.Note       `json:"reporting_category"`
	Created  json.RawMessage `json:"created"`
}

// entries returns the movements of the dispute's money, the oldest first.
func (o objectData) entries(of *webhooks.Money) (all []webhooks.DisputeEntry) {
	var list []json.RawMessage
	read.Loosely(o.Transactions, &list)
	for _, raw := range list {
		var b balanceTransaction
		if read.Loosely(raw, &b); of == nil || b.Amount == nil {
			continue
		}
		if entry, moved := DisputeEntry(b.ID, int64(*b.Amount), string(b.Currency), string(b.Category), read.Time(b.Created), *of); moved {
			all = append(all, entry)
		}
	}
	slices.SortStableFunc(all, func(x, y webhooks.DisputeEntry) int { return x.At.Compare(y.At) })
	return all
}

// withDispute adds the dispute. The event's money movement is the dispute's last entry of that kind, if there is an entry.
// A prevented dispute takes the money by its entries, in whichever event.
func (o objectData) withDispute(e webhooks.Event) webhooks.Event {
	if o.Object != "dispute" {
		return e
	}
	all := o.entries(e.Money)
	if o.Status == prevented && Holds(all) && !e.Kind.IsMovement() {
		e.Kind, e.MovementID = webhooks.KindChargeback, o.ID
	}
	d := webhooks.Dispute{
		ID: o.ID, Status: DisputeStatus(string(o.Status), e.Kind == webhooks.KindChargeback), Reason: string(o.Reason), Money: e.Money, DueBy: read.Time(read.Members(o.Evidence)["due_by"]),
	}
	if !e.Kind.IsMovement() {
		return read.WithDispute(e, d)
	}
	for _, entry := range all {
		if entry.Returned == (e.Kind == webhooks.KindChargebackReversed) {
			e.MovementID, e.Money, d.Entries = entry.ID, &entry.Money, all
		}
	}
	return read.WithDispute(e, d)
}
