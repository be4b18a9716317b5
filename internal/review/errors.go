package review

import "github.com/paylatch/paylatch/internal/payment"

// ResolutionError is the ErrResolutionImpossible with the reason, and with what helps.
type ResolutionError struct{ Reason string }

// Error implements error.
func (e *ResolutionError) Error() string {
	return payment.ErrResolutionImpossible.Error() + ": " + e.Reason
}

// Unwrap makes it an ErrResolutionImpossible.
func (*ResolutionError) Unwrap() error { return payment.ErrResolutionImpossible }
