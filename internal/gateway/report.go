package gateway

import (
	"errors"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// FromOutcome is the report that a response or a lookup contains.
func FromOutcome(o Outcome, cause payment.Cause) payment.Report {
	r := payment.Report{
		Payment: o.ProviderPaymentID, Container: o.Container, Payee: o.Payee, Live: o.Live, References: o.References, Event: o.Event, Movements: o.Movements, Disputes: o.Disputes, NextAction: o.NextAction,
		Saved: o.Saved, Review: o.Review, Failure: o.Failure, Approved: o.Approved, Reverses: o.Reverses, Returned: o.Returned, PageOpen: o.PageOpen, Releases: payment.HoldsAll, Refusal: o.Refusal, Cause: cause,
	}
	// Named movements come first: the total then has no amount beyond them.
	r.Movements = append(slices.Clip(r.Movements), payment.MovementsOf(o.Event, o.Money)...)
	return r
}

// Reports returns the reports in a lookup of a payment: its status, and its refunds where the lookup shows them.
func Reports(o Outcome, cause payment.Cause) []payment.Report {
	reports := []payment.Report{FromOutcome(o, cause)}
	for _, r := range o.Refunds {
		reports = append(reports, payment.Report{Payment: o.ProviderPaymentID, Event: fsm.EventMoney, Cause: cause, Refund: &payment.RefundReport{
			ProviderID: r.ProviderRefundID, Reference: r.Reference, Event: r.Event, Money: r.Money, Whole: r.Whole, Failure: r.Failure,
		}})
	}
	return reports
}

// Failed is the result of a call that returned an error.
func Failed(err error) CallResult {
	switch {
	case errors.Is(err, ErrThrottled):
		return CallResult{Outcome: CallThrottled}
	case errors.Is(err, ErrUnsupportedRequest):
		return CallResult{Outcome: CallUnsupported}
	case errors.Is(err, ErrNotSent), errors.Is(err, ErrPermitEnded), errors.Is(err, ErrUnsupported):
		return CallResult{Outcome: CallNotSent}
	}
	return CallResult{Outcome: CallUnknown}
}
