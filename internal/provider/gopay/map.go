package gopay

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// digits are the decimals of ISO 4217. Amounts are in hundredths of the currencies that GoPay accepts.
var digits = kit.Digits{} //nolint:gochecknoglobals // a table

// object is GoPay's view of a payment.
type object struct {
	ID json.Number `json:"id"`
	// ParentID is the first payment of a recurrence.
	ParentID    json.Number `json:"parent_id"`
	OrderNumber string      `json:"order_number"`
	State       string      `json:"state"`
	SubState    string      `json:"sub_state"`
	Amount      int64       `json:"amount"`
	Currency    string      `json:"currency"`
	Address     string      `json:"gw_url"`
	Instrument  string      `json:"payment_instrument"`
	Recurrence  *recurrence `json:"recurrence"`
	Target      struct {
		GoID json.Number `json:"goid"`
	} `json:"target"`
	Payer struct {
		Card struct {
			Number     string `json:"card_number"`
			Expiration string `json:"card_expiration"`
			Brand      string `json:"card_brand"`
		} `json:"payment_card"`
	} `json:"payer"`
	AdditionalParams []param `json:"additional_params"`
}

// params returns the non-empty values of a parameter.
func (p object) params(name string) (values []string) {
	for _, one := range p.AdditionalParams {
		if one.Name == name && one.Value != "" {
			values = append(values, one.Value)
		}
	}
	return values
}

// references returns our marks in the payment. A notification does not prove which attempt the payment belongs to. The
// shop's own order number is not a mark.
func (p object) references() []string {
	names := p.params(attemptParam)
	if _, ours := payment.OwnAttemptID(p.OrderNumber); ours {
		names = append(names, p.OrderNumber)
	}
	return names
}

func (p object) refunded() bool { return p.State == "REFUNDED" || p.State == "PARTIALLY_REFUNDED" }

// owns returns gateway.ErrNoSuchPayment if the payment belongs to another shop.
func (c *Client) owns(p object) error {
	if goid := p.Target.GoID.String(); goid != "" && goid != c.goid {
		return fmt.Errorf("%w: the payment is of another shop", gateway.ErrNoSuchPayment)
	}
	return nil
}

// outcome maps a payment by its state. An unpaid payment waits for its customer, who may choose another method. A
// recurrence does not wait for a customer. An unrecognized state is processing.
func (c *Client) outcome(p object) (gateway.Outcome, error) {
	if p.ID == "" || p.State == "" {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{ProviderPaymentID: p.ID.String(), Payee: p.Target.GoID.String(), Event: fsm.EventProcessing, References: p.references()}
	var err error
	switch p.State {
	case "CREATED", "PAYMENT_METHOD_CHOSEN":
		if p.ParentID == "" {
			o.Event, o.NextAction = fsm.EventActionRequired, payment.Redirect(p.Address)
		}
	case "AUTHORIZED":
		o.Event, o.Saved = fsm.EventAuthorized, p.saved()
		o.Money, err = digits.Money(p.Amount, p.Currency)
	case "PAID", "REFUNDED", "PARTIALLY_REFUNDED":
		o.Event, o.Saved = fsm.EventSucceeded, p.saved()
		o.Money, err = digits.Money(p.Amount, p.Currency)
	case "CANCELED":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("canceled", p.SubState)
	case "TIMEOUTED":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("expired", p.SubState)
	}
	return o, err
}

// refund is GoPay's view of a refund.
type refund struct {
	ID       json.Number `json:"id"`
	State    string      `json:"state"`
	Amount   int64       `json:"amount"`
	Currency string      `json:"currency"`
}

// outcome maps a refund of a payment in this currency.
func (r refund) outcome(currency string) (gateway.RefundOutcome, error) {
	if r.ID == "" || r.State == "" {
		return gateway.RefundOutcome{}, errNameless
	}
	o := gateway.RefundOutcome{ProviderRefundID: r.ID.String(), Event: fsm.EventProcessing}
	switch r.State {
	case "SUCCESS":
		o.Event = fsm.EventSucceeded
	case "FAILED":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("provider_rejected", "")
	}
	var err error
	o.Money, err = digits.Money(r.Amount, cmp.Or(r.Currency, currency))
	return o, err
}
