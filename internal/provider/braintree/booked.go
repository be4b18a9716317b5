package braintree

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

const (
	submitted, pending, settled = "submitted_for_settlement", "settlement_pending", "settled"
	// voided and declinedLate end a transaction, even a captured transaction.
	voided, declinedLate = "voided", "settlement_declined"
)

// event is a status change in the history of a transaction or a dispute (braintree_python, braintree/status_event.py).
// Its elements are from the recorded response in https://github.com/braintree-go/braintree-go, transaction_unit_test.go.
type event struct {
	Status    string `xml:"status"`
	Timestamp string `xml:"timestamp"`
	Amount    string `xml:"amount"`
	at        time.Time
}

var errNoDate = errors.New("no date of a change is shown")

// history returns a history sorted by time, oldest first. It returns an error if an event has no date.
func history(events []event) ([]event, error) {
	all := slices.Clone(events)
	for i := range all {
		at, err := time.Parse(time.RFC3339, all[i].Timestamp)
		if err != nil {
			return nil, fmt.Errorf("%w: %s", errNoDate, all[i].Status)
		}
		all[i].at = at.UTC()
	}
	slices.SortStableFunc(all, func(a, b event) int { return a.at.Compare(b.at) })
	return all, nil
}

// first returns the first event with a status, or the zero value.
func first(of []event, status string) event {
	for _, e := range of {
		if e.Status == status {
			return e
		}
	}
	return event{}
}

// captured returns the event that captured a sale: its submission for settlement. For a sale that was pending, or was
// never submitted, it is the settlement. Braintree can search by both times.
func captured(of []event) event {
	if at := first(of, submitted); at.Status != "" && first(of, pending).Status == "" {
		return at
	}
	return first(of, settled)
}

// entries returns a transaction's money movements in a span: a sale or a refund, and its disputes.
func (c *Client) entries(t transaction, in gateway.Span) (all []gateway.Entry, err error) {
	if c.MerchantAccount == "" && c.Currency != "" && string(c.Currency) != t.Currency {
		return nil, nil
	}
	bookings, err := t.bookings()
	for _, b := range bookings {
		switch e, has, unread := b.entry(in); {
		case unread != nil:
			err = unread
		case has:
			e.Payee = t.Account
			all = append(all, e)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("transaction %s: %w", t.ID, err)
	}
	return all, nil
}

// bookings returns all money movements of a transaction. A credit without a refunded sale belongs to no payment.
func (t transaction) bookings() ([]booking, error) {
	past, err := history(t.History)
	switch {
	case err != nil:
		return nil, err
	case len(past) == 0, t.Status == "":
		return nil, errNoDate
	case t.Type == sale:
		return append(t.disputed(), t.sold(past)), nil
	case t.Type == credit && t.Refunded != "":
		return append(t.disputed(), t.refunded(past)), nil
	}
	return nil, nil
}

// booking is an entry with an amount that is not parsed yet, and the error of its date. The zero value is not an entry.
type booking struct {
	gateway.Entry

	amount, currency string
	err              error
}

// entry returns the entry, and reports whether it is in the span. It parses the amount of entries in the span only.
func (b booking) entry(in gateway.Span) (gateway.Entry, bool, error) {
	switch {
	case b.err != nil:
		return gateway.Entry{}, false, b.err
	case b.ID == "", !in.Has(b.Movement.At):
		return gateway.Entry{}, false, nil
	}
	money, err := kit.ReadDecimal(b.amount, b.currency)
	if err != nil {
		return gateway.Entry{}, false, fmt.Errorf("%s: %w", b.ID, err)
	}
	b.Movement.Money = *money
	return b.Entry, true, nil
}

// references returns a transaction's names besides its id.
func (t transaction) references() (names []string) {
	for _, name := range []string{t.OrderID, t.Local} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// sold returns the capture of a sale, or the capture's reversal if the sale was voided or its settlement was declined.
// The capture of a reversed sale is not passed. If it was never recorded before, it would count as late money until its
// reversal.
func (t transaction) sold(past []event) booking {
	at := captured(past)
	b := booking{
		Entry:  gateway.Entry{ID: t.ID, Payment: t.ID, References: t.references(), Movement: payment.MovementReport{Kind: payment.MovementCapture, At: at.at}},
		amount: t.Amount, currency: t.Currency,
	}
	switch {
	case at.Status == "":
		return booking{}
	case t.news() == fsm.EventSucceeded:
		b.Fee = t.PayPal.fee()
	case t.Status == voided || t.Status == declinedLate:
		b.ID, b.Undoes, b.amount = t.ID+"/reversal", t.ID, cmp.Or(at.Amount, t.Amount)
		b.Movement.Kind, b.Movement.At = payment.MovementCaptureReversal, first(past, t.Status).at
	default:
		return booking{}
	}
	return b
}

// refunded returns a settled refund, or its reversal if its settlement was declined afterwards.
func (t transaction) refunded(past []event) booking {
	at := first(past, settled)
	b := booking{
		Entry:  gateway.Entry{ID: t.ID, Payment: t.Refunded, Movement: payment.MovementReport{Kind: payment.MovementRefund, ID: t.ID, At: at.at}},
		amount: t.Amount, currency: t.Currency,
	}
	switch {
	case at.Status == "":
		return booking{}
	case t.Status == settled:
	case t.Status == declinedLate:
		b.ID, b.Undoes = t.ID+"/reversal", t.ID
		b.Movement.Kind, b.Movement.At = payment.MovementRefundReversal, first(past, declinedLate).at
	default:
		return booking{}
	}
	return b
}

// fee returns PayPal's fee for a transaction
// (https://developer.paypal.com/braintree/graphql/reference/types/pay-pal-transaction-details.md), or nil if no fee is
// shown.
func (i instrument) fee() *payment.Money {
	fee, err := kit.ReadDecimal(i.Fee, i.FeeCurrency)
	if err != nil {
		return nil
	}
	return fee
}

// disputed returns the chargebacks of a transaction, dated by the opening of the dispute, and each reversal of a won
// dispute.
func (t transaction) disputed() (all []booking) {
	for _, d := range t.Disputes {
		if _, known := disputeStates[d.Status]; !known || d.Kind == retrieval {
			continue
		}
		d.Currency = cmp.Or(d.Currency, t.Currency)
		all = append(all, d.booked(gateway.Entry{Payment: t.ID, References: t.references()})...)
	}
	return all
}

// booked returns the rounds of a dispute. The first round has the dispute's id.
func (d dispute) booked(e gateway.Entry) (all []booking) {
	taken, err := kit.ReadDecimal(d.taken(), d.Currency)
	var rounds []payment.MovementReport
	if err == nil {
		rounds, err = d.rounds(*taken)
	}
	if err != nil {
		return []booking{{Entry: e, err: err}}
	}
	for i, round := range rounds {
		e.ID, e.Movement = d.ID, round
		if round.Kind == payment.MovementChargebackReversal {
			e.ID += "/reversal"
		}
		if i > 1 {
			e.ID += fmt.Sprintf("/%d", i/2+1)
		}
		if e.Movement.At.IsZero() {
			e.Movement.At = d.created()
		}
		amount, _ := round.Money.Wire().Decimal()
		all = append(all, booking{Entry: e, amount: amount, currency: d.Currency}.dated())
	}
	return all
}

// dated returns the booking, with an error if it has no id or no date.
func (b booking) dated() booking {
	if b.err == nil && (cmp.Or(b.Movement.ID, b.Movement.Dispute) == "" || b.Movement.At.IsZero()) {
		b.err = errNoDate
	}
	return b
}
