package payment

import (
	"slices"

	"github.com/paylatch/paylatch/webhooks"
)

// StorableEvent replaces bytes that the database can't hold: an event is never refused for its content.
func StorableEvent(r ReceivedEvent) ReceivedEvent {
	e := &r.Event
	for _, part := range []*string{&e.Type, (*string)(&e.FailureCode), &e.ProviderCode} {
		*part = StorableText(*part)
	}
	for _, name := range []*string{&e.ID, &e.DeliveryID, &e.ProviderPaymentID, &e.Container, &e.Payee, &e.MovementID, &e.CaptureReference, &e.RefundID, &e.RefundReference} {
		*name = StorableName(*name)
	}
	if e.Review != nil {
		r := *e.Review
		r.ID = StorableName(r.ID)
		e.Review = &r
	}
	if e.Method != nil {
		e.Method = storableMethod(*e.Method)
	}
	if e.Dispute != nil {
		d := *e.Dispute
		d.ID, d.Reason = StorableName(d.ID), StorableText(d.Reason)
		d.Entries = slices.Clone(d.Entries)
		for i := range d.Entries {
			d.Entries[i].ID = StorableName(d.Entries[i].ID)
		}
		e.Dispute = &d
	}
	e.References = slices.Clone(e.References)
	for i, name := range e.References {
		e.References[i] = StorableName(name)
	}
	return r
}

// storableMethod drops tokens that the database can't hold: such a method was never stored for an attempt, either.
func storableMethod(m webhooks.Method) *webhooks.Method {
	m.Tokens = slices.DeleteFunc(slices.Clone(m.Tokens), func(token string) bool { return token == "" || !Nameable(token) })
	m.Type, m.Display, m.Expires = StorableText(m.Type), StorableText(m.Display), StorableText(m.Expires)
	return &m
}
