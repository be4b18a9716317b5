package square

import (
	"cmp"
	"fmt"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/square"
)

// fees are the fees of a payment or a refund. A negative fee was returned
// (https://developer.squareup.com/reference/square/objects/ProcessingFee). Square adds fees some time later.
type fees struct {
	Processing []struct {
		Amount money `json:"amount_money"`
	} `json:"processing_fee"`
	// App is the fee of the application's developer. For a refund, it is the amount that the developer returns.
	App *money `json:"app_fee_money"`
}

// add adds the fee and the net amount to an entry.
func (f fees) add(e *gateway.Entry, paid payment.Money, sign int64) {
	if len(f.Processing) == 0 {
		return
	}
	fee := payment.Money{Currency: paid.Currency}
	for _, one := range f.Processing {
		if one.Amount.Currency != string(paid.Currency) {
			return
		}
		fee.Minor += one.Amount.Amount
	}
	net := payment.Money{Minor: sign*paid.Minor - fee.Minor, Currency: paid.Currency}
	if f.App != nil {
		net.Minor -= sign * f.App.Amount
	}
	e.Fee, e.Net = &fee, &net
}

type bookedPayment struct {
	paid
	dates
	fees

	SourceType string `json:"source_type"`
	Card       struct {
		Timeline struct {
			CapturedAt time.Time `json:"captured_at"`
		} `json:"card_payment_timeline"`
	} `json:"card_details"`
}

// entries returns the payment's capture, if there is one. The amount is the payment's total, as in a lookup. Cash and
// external payments have no entry, because Square does not hold that money.
func (p bookedPayment) entries() ([]gateway.Entry, error) {
	if p.Status != "COMPLETED" || p.SourceType == "CASH" || p.SourceType == "EXTERNAL" {
		return nil, nil
	}
	o, err := outcome(&p.paid)
	if err == nil && (o.Money == nil || p.CreatedAt.IsZero()) {
		err = errNameless
	}
	if err != nil {
		return nil, fmt.Errorf("payment %s: %w", p.ID, err)
	}
	at := p.CreatedAt
	if captured := p.Card.Timeline.CapturedAt; !captured.IsZero() {
		at = captured
	}
	e := gateway.Entry{ID: p.ID, Payment: p.ID, Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: *o.Money, At: at.UTC()}}
	for _, name := range []string{p.ReferenceID, p.OrderID} {
		if name != "" {
			e.References = append(e.References, name)
		}
	}
	p.add(&e, *o.Money, 1)
	return []gateway.Entry{e}, nil
}

type bookedRefund struct {
	refund
	dates
	fees

	PaymentID string `json:"payment_id"`
	OrderID   string `json:"order_id"`
}

// entries returns the refund once it is completed. A refund without a payment has no entry.
func (r bookedRefund) entries() ([]gateway.Entry, error) {
	if r.Status != "COMPLETED" || r.PaymentID == "" {
		return nil, nil
	}
	o, err := refundOutcome(&r.refund)
	if err == nil && r.CreatedAt.IsZero() {
		err = errNameless
	}
	if err != nil {
		return nil, fmt.Errorf("refund %s: %w", r.ID, err)
	}
	e := gateway.Entry{
		ID: r.ID, Payment: r.PaymentID, Movement: payment.MovementReport{Kind: payment.MovementRefund, ID: r.ID, Money: *o.Money, At: r.CreatedAt.UTC()},
	}
	if r.OrderID != "" {
		e.References = []string{r.OrderID}
	}
	r.add(&e, *o.Money, -1)
	return []gateway.Entry{e}, nil
}

// dispute is a Dispute (https://developer.squareup.com/reference/square/objects/Dispute).
type dispute struct {
	dates

	ID      string `json:"id"`
	OldID   string `json:"dispute_id"`
	State   string `json:"state"`
	Amount  *money `json:"amount_money"`
	Payment struct {
		ID string `json:"payment_id"`
	} `json:"disputed_payment"`
}

// entries returns the dispute's chargeback and, if the dispute is won, its reversal. Both have the dispute's id, so the
// second entry gets another id.
func (d dispute) entries() ([]gateway.Entry, error) {
	kind := hooks.DisputeKind(d.State)
	if !kind.IsMovement() {
		return nil, nil
	}
	id := cmp.Or(d.ID, d.OldID)
	sum, err := d.Amount.read()
	if err == nil && (sum == nil || id == "" || d.Payment.ID == "" || d.CreatedAt.IsZero()) {
		err = errNameless
	}
	if err != nil {
		return nil, fmt.Errorf("dispute %s: %w", id, err)
	}
	took := gateway.Entry{
		ID: id, Payment: d.Payment.ID, Movement: payment.MovementReport{Kind: payment.MovementChargeback, Dispute: id, Money: *sum, At: d.CreatedAt.UTC()},
	}
	if kind != webhooks.KindChargebackReversed {
		return []gateway.Entry{took}, nil
	}
	back := took
	back.ID += "/won"
	back.Movement.Kind, back.Movement.At, back.Movement.Whole = payment.MovementChargebackReversal, d.UpdatedAt.UTC(), true
	return []gateway.Entry{took, back}, nil
}
