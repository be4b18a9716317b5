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

// fees are those of a payment or of a refund: negative ones are returned
// (https://developer.squareup.com/reference/square/objects/ProcessingFee). Square adds them some time later.
type fees struct {
	Processing []struct {
		Amount money `json:"amount_money"`
	} `json:"processing_fee"`
	// App is what the application's developer takes, or gives for a refund.
	App *money `json:"app_fee_money"`
}

// add adds to an entry the fee, and the net of what was paid.
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

// entries are the capture, if there is one: a total, as the payment's lookup has it. What was paid in cash, or
// elsewhere, is none of Square's money.
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
	e := gateway.Entry{ID: p.ID, Payment: p.ID, Movement: payment.Told{Kind: payment.MovementCapture, Money: *o.Money, At: at.UTC()}}
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

// entries are the refund, once it is completed; none for one that is of no payment.
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
		ID: r.ID, Payment: r.PaymentID, Movement: payment.Told{Kind: payment.MovementRefund, ID: r.ID, Money: *o.Money, At: r.CreatedAt.UTC()},
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

// entries are what the dispute took, and, won, what came back: two entries of one id, so that the second has
// another.
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
		ID: id, Payment: d.Payment.ID, Movement: payment.Told{Kind: payment.MovementChargeback, Dispute: id, Money: *sum, At: d.CreatedAt.UTC()},
	}
	if kind != webhooks.KindChargebackReversed {
		return []gateway.Entry{took}, nil
	}
	back := took
	back.ID += "/won"
	back.Movement.Kind, back.Movement.At, back.Movement.Whole = payment.MovementChargebackReversal, d.UpdatedAt.UTC(), true
	return []gateway.Entry{took, back}, nil
}
