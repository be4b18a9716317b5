package worklist

import (
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
)

// Entry is a discrepancy with the data for its readers.
type Entry struct {
	payment.Discrepancy

	// EventID is the stored event that caused it; nil if there is no event.
	EventID *payment.EventID
	// User is the user of the order. Account is the account of the payment or event. Each is empty if not recorded.
	User    payment.UserID
	Account string
	// Expected is the amount of the refund, else of the attempt, else of the order; nil without any. Held is the amount
	// that the attempt holds now; nil if there is no attempt.
	Expected, Held *payment.Money
	// Circumstances are the facts that its possible resolutions depend on.
	Circumstances payment.Circumstances
	// Dispute is the open dispute that it is about; zero if there is none. Of the dispute only the provider's id, the reason and the
	// deadline are set.
	Dispute payment.Dispute
	// ProviderPaymentID is the provider's id of the payment; empty if there is none. Capture is that of its first capture.
	ProviderPaymentID, Capture string
	// AssignedAt is when the assignee took it; nil if there is no assignee.
	AssignedAt *time.Time
	// CommentCount counts all comments. Comments are the newest, newest first; a list of the API leaves them out.
	CommentCount int64
	Comments     []Comment
	// ReadAt is the clock of the storage.
	ReadAt time.Time
}

// Comment is a person's text about a discrepancy. It never changes.
type Comment struct {
	ID            uuid.UUID
	DiscrepancyID payment.DiscrepancyID
	Author, Text  string
	// Key is the idempotency key of its request; empty if there is none.
	Key idempotency.Key
	At  time.Time
}

// Age returns how long a discrepancy was open, or has been so far.
func (e Entry) Age() time.Duration {
	if e.Resolved != nil {
		return e.Resolved.At.Sub(e.At)
	}
	return e.ReadAt.Sub(e.At)
}

// Possible returns the resolutions that it can have now; empty once it is resolved.
func (e Entry) Possible() []payment.PossibleResolution {
	if e.Resolved != nil {
		return nil
	}
	return e.Discrepancy.Possible(e.Circumstances)
}

// Says returns the text, with the current state.
func (e Entry) Says() string { return e.Discrepancy.Says(e.Circumstances) }

// WhatToDo returns advice for a reviewer.
func (e Entry) WhatToDo() string { return e.Discrepancy.WhatToDo(e.Circumstances) }
