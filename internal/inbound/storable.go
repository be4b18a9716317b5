package inbound

import (
	"slices"

	"github.com/paylatch/paylatch/internal/storable"
)

// Storable replaces bytes that the database can't hold: an event is never refused for its content.
func Storable(r Received) Received {
	e := &r.Event
	for _, part := range []*string{&e.Type, &e.FailureCode, &e.ProviderCode} {
		*part = storable.Text(*part)
	}
	for _, name := range []*string{&e.ID, &e.DeliveryID, &e.ProviderPaymentID, &e.Container, &e.Payee, &e.MovementID, &e.RefundID, &e.RefundReference} {
		*name = storable.Name(*name)
	}
	if e.Dispute != nil {
		d := *e.Dispute
		d.ID, d.Reason = storable.Name(d.ID), storable.Text(d.Reason)
		d.Entries = slices.Clone(d.Entries)
		for i := range d.Entries {
			d.Entries[i].ID = storable.Name(d.Entries[i].ID)
		}
		e.Dispute = &d
	}
	e.References = slices.Clone(e.References)
	for i, name := range e.References {
		e.References[i] = storable.Name(name)
	}
	return r
}
