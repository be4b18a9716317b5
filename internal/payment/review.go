package payment

import (
	"cmp"
	"time"
)

// ReviewStatus is where the provider's own review of a payment stands; empty if there is no review.
type ReviewStatus string

// The statuses of a review.
const (
	ReviewOpen     ReviewStatus = "open"
	ReviewApproved ReviewStatus = "approved"
	ReviewDeclined ReviewStatus = "declined"
)

func (s ReviewStatus) closed() bool { return s == ReviewApproved || s == ReviewDeclined }

// Review is the provider's own review of an attempt's payment.
type Review struct {
	Status ReviewStatus `json:"status"`
	// ID is the provider's id of it; empty if there is none. At is the provider's clock of the last report about it, zero if it had no
	// time.
	ID string    `json:"id,omitempty"`
	At time.Time `json:"at,omitzero"`
	// PaidHeld is set while order.paid waits for the end of the review.
	PaidHeld bool `json:"paid_held,omitempty"`
}

// ReviewReport is a provider's statement about a review.
type ReviewReport struct {
	ID     string
	Status ReviewStatus
	// Implied is set where the report only means that a review is over if there was one.
	Implied bool
}

// reviewed takes over what a report says about the provider's review. A closed review stays closed: only a report of another
// review, begun later by the provider's clock, opens one again.
func (a *Attempt) reviewed(r Report) {
	told, was := r.Review, a.Review
	if told == nil || told.Implied && was.Status != ReviewOpen {
		return
	}
	other, later := told.ID != "" && was.ID != "" && told.ID != was.ID, r.At.After(was.At)
	switch {
	case told.Status == was.Status && !other && (was.ID != "" || told.ID == ""):
		return // known
	case was.Status.closed() && (!later || told.Status == ReviewOpen && !other):
		return
	case was.Status == ReviewOpen && other && !later:
		return // the end of an earlier review
	}
	a.Review.Status, a.Review.ID = told.Status, cmp.Or(told.ID, was.ID)
	if later {
		a.Review.At = r.At
	}
}

// TellsPaid decides whether a change of the attempt, from its state before, tells the shop that the order is paid. Where the account
// holds that back, a review that is not approved postpones it until it is.
func (a *Attempt) TellsPaid(before *Attempt, hold bool) bool {
	switch {
	case a.Succeeded() && !before.Succeeded():
		a.Review.PaidHeld = hold && (a.Review.Status == ReviewOpen || a.Review.Status == ReviewDeclined)
		return !a.Review.PaidHeld
	case a.Review.PaidHeld && a.Review.Status == ReviewApproved && a.Held() > 0:
		a.Review.PaidHeld = false
		return true
	}
	return false
}

// againstReview reports whether the attempt has money, or a hold, that the provider's review declined.
func (a *Attempt) againstReview() bool {
	return a.Review.Status == ReviewDeclined && (a.HoldsMoney() || a.OnHold() > 0)
}

// declinedReview is the finding of money that is still there although the provider's review declined the payment.
func declinedReview(before, after Attempt) []Finding {
	if before.againstReview() || !after.againstReview() {
		return nil
	}
	return []Finding{{
		Kind: NeedsReview, About: AboutReviewDeclined, AboutID: cmp.Or(after.Review.ID, after.ProviderPaymentID),
		Money: &Money{cmp.Or(after.Held(), after.OnHold()), after.Money.Currency},
		Text: "The provider's review declined this payment, and the provider still has its money. Refund the money, or cancel the payment " +
			"if the money is only held. Read the reason in the provider's dashboard before you deliver anything.",
	}}
}
