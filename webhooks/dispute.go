package webhooks

import "time"

// DisputeStatus is where a dispute stands at the provider.
type DisputeStatus string

// The statuses of a dispute. Closed ones may still change: a dispute that was lost can be won later, and the reverse.
const (
	// DisputeWarning disputes are inquiries: no money has moved.
	DisputeWarning DisputeStatus = "warning"
	// DisputeOpen disputes wait for the merchant's evidence.
	DisputeOpen DisputeStatus = "open"
	// DisputeUnderReview disputes have their evidence.
	DisputeUnderReview DisputeStatus = "under_review"
	// DisputeWon disputes ended without a loss: they were decided for the merchant, or withdrawn.
	DisputeWon DisputeStatus = "won"
	// DisputeLost disputes were decided for the cardholder.
	DisputeLost DisputeStatus = "lost"
	// DisputeAccepted disputes were not defended.
	DisputeAccepted DisputeStatus = "accepted"
)

// Closed reports whether the dispute is over, by this status.
func (s DisputeStatus) Closed() bool {
	return s == DisputeWon || s == DisputeLost || s == DisputeAccepted
}

// Open reports whether the dispute is not decided yet.
func (s DisputeStatus) Open() bool { return s != "" && !s.Closed() }

// Dispute is the part of an event about a dispute, as it stood at [Event.OccurredAt]. It moves no money: where a dispute
// does, the event's Kind has it.
type Dispute struct {
	// ID is the provider's id of the dispute, the same in all of its events.
	ID     string        `json:"id,omitzero"`
	Status DisputeStatus `json:"status,omitzero"`
	// Reason is the provider's own code or word for it; empty if none is given.
	Reason string `json:"reason,omitzero"`
	// Money is the disputed amount. Nil where it is not stated.
	Money *Money `json:"money,omitzero"`
	// DueBy is until when the merchant may answer; zero if that is not stated.
	DueBy time.Time `json:"due_by,omitzero"`
	// Returns is set where the provider reports no movement with the end of the dispute, and all money that the dispute
	// had taken is back by then.
	Returns bool `json:"returns,omitzero"`
	// Entries lists each amount that the dispute took or returned until then, if the provider lists them in the event.
	Entries []DisputeEntry `json:"entries,omitempty"`
}

// DisputeEntry is one movement of a dispute's money, under the provider's id of it.
type DisputeEntry struct {
	ID string `json:"id"`
	// Returned is set on money that came back to the merchant.
	Returned bool  `json:"returned,omitzero"`
	Money    Money `json:"money"`
	// At is the provider's time of it; zero if it gives none.
	At time.Time `json:"at,omitzero"`
}
