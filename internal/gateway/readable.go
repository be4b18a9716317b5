package gateway

import (
	"errors"

	"github.com/paylatch/paylatch/internal/payment"
)

// errUnreadable is returned for a response with a name that can't be stored.
var errUnreadable = errors.New("the provider's response can't be stored unchanged")

// Readable returns the outcome with texts that the database accepts. It returns an error if a name, a currency or the
// next address can't be stored unchanged: the outcome is unknown then.
func (o Outcome) Readable() (Outcome, error) {
	names := append([]string{o.ProviderPaymentID}, o.References...)
	for _, m := range o.Movements {
		names = append(names, m.ID, string(m.Money.Currency))
	}
	for i, r := range o.Refunds {
		if !payment.Nameable(r.Reference) {
			r.Reference = "" // not a reference of ours
		}
		readable, err := r.Readable()
		if err != nil {
			return Outcome{}, err
		}
		o.Refunds[i] = readable
	}
	for i, d := range o.Disputes {
		names = append(names, d.ProviderID, currencyOf(d.Money))
		o.Disputes[i].Reason = payment.StorableText(d.Reason)
	}
	if !o.NextAction.Keepable() || !payment.Nameable(append(names, currencyOf(o.Money))...) {
		return Outcome{}, errUnreadable
	}
	if v := o.Review; v != nil {
		o.Review = &payment.ReviewReport{ID: payment.StorableName(v.ID), Status: v.Status, Implied: v.Implied}
	}
	o.Failure, o.Saved = o.Failure.Readable(), o.Saved.Readable()
	return o, nil
}

// Readable is as in Outcome, for a refund.
func (o RefundOutcome) Readable() (RefundOutcome, error) {
	if !payment.Nameable(o.ProviderRefundID, o.Reference, currencyOf(o.Money)) {
		return RefundOutcome{}, errUnreadable
	}
	o.Failure = o.Failure.Readable()
	return o, nil
}

func currencyOf(m *payment.Money) string {
	if m == nil {
		return ""
	}
	return string(m.Currency)
}
