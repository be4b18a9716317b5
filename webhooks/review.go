package webhooks

// ReviewStatus is where the provider's own review of a payment stands.
type ReviewStatus string

// The statuses of a review.
const (
	// ReviewOpen reviews wait for a decision of a person.
	ReviewOpen ReviewStatus = "open"
	// ReviewApproved reviews ended in favour of the payment.
	ReviewApproved ReviewStatus = "approved"
	// ReviewDeclined reviews ended against the payment. That moves no money: where the provider cancels or refunds the
	// payment, that is an event of its own.
	ReviewDeclined ReviewStatus = "declined"
)

// Review is the part of an event about the review of its payment, as it stood at [Event.OccurredAt].
type Review struct {
	// ID is the provider's id of the review, the same in all of its events; empty where the provider has none.
	ID     string       `json:"id,omitzero"`
	Status ReviewStatus `json:"status,omitzero"`
	// Implied is set where the event is about the payment, and only means that a review of it is over if there was one.
	Implied bool `json:"implied,omitzero"`
}
