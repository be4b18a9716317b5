package square

import (
	"cmp"
	"errors"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	hooks "github.com/paylatch/paylatch/webhooks/square"
)

// digits are the decimals of ISO 4217
// (https://developer.squareup.com/docs/build-basics/common-data-types/working-with-monetary-amounts).
var digits kit.Digits //nolint:gochecknoglobals // a table

// money is an amount in the smallest unit of its currency.
type money struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

func moneyOf(m payment.Money) money { return money{m.Minor, string(m.Currency)} }

// paid is a Payment
// (https://developer.squareup.com/reference/square/objects/Payment).
type paid struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	OrderID string `json:"order_id"`
	// LocationID is the location that received the payment.
	LocationID string `json:"location_id"`
	// ReferenceID is the attempt's id.
	ReferenceID string   `json:"reference_id"`
	Amount      *money   `json:"amount_money"`
	Approved    *money   `json:"approved_money"`
	Total       *money   `json:"total_money"`
	RefundIDs   []string `json:"refund_ids"`
	Card        struct {
		Errors []apiErr `json:"errors"`
	} `json:"card_details"`
}

// references returns the payment's other id in webhooks: the order that Square creates for each payment.
func (p *paid) references() []string {
	if p.OrderID == "" {
		return nil
	}
	return []string{p.OrderID}
}

// outcome maps a payment by its status. An unrecognized status is processing.
func outcome(p *paid) (gateway.Outcome, error) {
	if p == nil || p.ID == "" {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{ProviderPaymentID: p.ID, Container: p.OrderID, References: p.references(), Event: fsm.EventProcessing}
	var err error
	switch p.Status {
	case "APPROVED":
		o.Event = fsm.EventAuthorized
		o.Money, err = cmp.Or(p.Approved, p.Amount).read()
	case "COMPLETED":
		o.Event = fsm.EventSucceeded
		o.Money, err = cmp.Or(p.Total, p.Amount).read()
	case "CANCELED":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("canceled", "")
	case "FAILED":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("provider_rejected", "")
		if len(p.Card.Errors) > 0 {
			o.Failure = payment.NewFailure(hooks.FailureCode(p.Card.Errors[0].Code))
		}
	}
	return o, err
}

// outcome maps a payment like the function outcome. It adds the location as the payee if the account is one location of
// its seller.
func (c *Client) outcome(p *paid) (gateway.Outcome, error) {
	o, err := outcome(p)
	if err == nil && c.Location != "" {
		o.Payee = p.LocationID
	}
	return o, err
}

func (m *money) read() (*payment.Money, error) {
	if m == nil {
		return nil, nil
	}
	return digits.Money(m.Amount, m.Currency)
}

func refundOutcome(r *refund) (gateway.RefundOutcome, error) {
	if r == nil || r.ID == "" {
		return gateway.RefundOutcome{}, errNameless
	}
	o := gateway.RefundOutcome{ProviderRefundID: r.ID, Reference: kit.Reference(r.Reason), Event: fsm.EventProcessing}
	switch r.Status {
	case "COMPLETED":
		o.Event = fsm.EventSucceeded
	case "REJECTED", "FAILED":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("provider_rejected", r.Status)
	}
	var err error
	o.Money, err = digits.Money(r.Amount.Amount, r.Amount.Currency)
	return o, err
}

var errGone = errors.New("the provider names a refund that it does not know")

// unknown replaces gateway.ErrNoSuchPayment by an error that does not mean "there is no payment".
func unknown(err error) error {
	if errors.Is(err, gateway.ErrNoSuchPayment) {
		return errGone
	}
	return err
}
