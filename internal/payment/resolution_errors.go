package payment

import (
	"errors"
)

// ErrAssigned is returned when a discrepancy is another person's than was expected; it is an *AssignedError.
var ErrAssigned = errors.New("the discrepancy's assignee is not the expected one")

// AssignedError is the ErrAssigned with the current assignee; empty if there is no assignee.
type AssignedError struct{ Assignee string }

// Error implements error.
func (*AssignedError) Error() string { return ErrAssigned.Error() }

// Unwrap makes it an ErrAssigned.
func (*AssignedError) Unwrap() error { return ErrAssigned }

// ResolutionError is the ErrResolutionImpossible with the reason and a remedy.
type ResolutionError struct{ Reason string }

// Error implements error.
func (e *ResolutionError) Error() string {
	return ErrResolutionImpossible.Error() + ": " + e.Reason
}

// Unwrap makes it an ErrResolutionImpossible.
func (*ResolutionError) Unwrap() error { return ErrResolutionImpossible }
