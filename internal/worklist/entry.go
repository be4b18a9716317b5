package worklist

import (
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/review"
)

// Entry is a discrepancy with what its readers need.
type Entry struct {
	review.Discrepancy

	// EventID is the stored event that is the cause, nil if there is none.
	EventID *payment.EventID
	// User is whose order it is, Account whose payment or event; empty if neither is recorded.
	User    payment.UserID
	Account string
	// Expected is what the refund, the attempt or the order is of, the first of them that it is about; nil for none. Held is
	// what the attempt holds now; nil without one.
	Expected, Held *payment.Money
	// Circumstances are what its possible resolutions depend on.
	Circumstances review.Circumstances
	// AssignedAt is since when the assignee has it; nil without one.
	AssignedAt *time.Time
	// CommentCount counts all comments. Comments are the newest, newest first; a list of the API leaves them out.
	CommentCount int64
	Comments     []Comment
	// ReadAt is the clock of the storage.
	ReadAt time.Time
}

// Comment is what a person wrote about a discrepancy. It never changes.
type Comment struct {
	ID            uuid.UUID
	DiscrepancyID payment.DiscrepancyID
	Author, Text  string
	// Key is the one that it was sent with; empty for none.
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
func (e Entry) Possible() []review.Possibility {
	if e.Resolved != nil {
		return nil
	}
	return e.Discrepancy.Possible(e.Circumstances)
}

// Says returns the text, with how it stands now.
func (e Entry) Says() string { return e.Discrepancy.Says(e.Circumstances) }

// WhatToDo returns advice for a reviewer.
func (e Entry) WhatToDo() string { return e.Discrepancy.WhatToDo(e.Circumstances) }
