package gateway

import (
	"errors"

	"github.com/paylatch/paylatch/internal/payment"
)

// FromOutcome is the report that a response or a lookup contains.
func FromOutcome(o Outcome, cause payment.Cause) payment.Report {
	r := payment.Report{
		Payment: o.ProviderPaymentID, References: o.References, Says: o.News, Movements: o.Movements, NextActionURL: o.NextActionURL,
		Saved: o.Saved, Failure: o.Failure, Approved: o.Approved, Undoes: o.Undoes, Ends: payment.HoldsAll, Cause: cause,
	}
	r.Movements = append(payment.MovementsOf(o.News, o.Money, ""), r.Movements...)
	return r
}

// Failed is the result of a call that returned an error.
func Failed(err error) CallResult {
	switch {
	case errors.Is(err, ErrHeldBack):
		return CallResult{Outcome: CallHeldBack}
	case errors.Is(err, ErrUnfit):
		return CallResult{Outcome: CallUnfit}
	case errors.Is(err, ErrNotSent), errors.Is(err, ErrPermitEnded), errors.Is(err, ErrUnsupported):
		return CallResult{Outcome: CallNotSent}
	}
	return CallResult{Outcome: CallUnknown}
}
