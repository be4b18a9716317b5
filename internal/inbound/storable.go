package inbound

import (
	"slices"

	"github.com/paylatch/paylatch/internal/payment"
)

// Storable replaces what the database can't hold: an event is never refused for its content.
func Storable(r Received) Received {
	e := &r.Event
	for _, part := range []*string{&e.Type, &e.FailureCode, &e.ProviderCode} {
		*part = payment.StorableText(*part)
	}
	for _, name := range []*string{&e.ID, &e.DeliveryID, &e.ProviderPaymentID, &e.Transaction, &e.MovementID, &e.RefundID, &e.RefundReference} {
		*name = payment.StorableName(*name)
	}
	if e.Dispute != nil {
		d := *e.Dispute
		d.ID, d.Reason = payment.StorableName(d.ID), payment.StorableText(d.Reason)
		e.Dispute = &d
	}
	e.References = slices.Clone(e.References)
	for i, name := range e.References {
		e.References[i] = payment.StorableName(name)
	}
	return r
}
