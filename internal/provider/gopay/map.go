package gopay

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// digits are those of ISO 4217: amounts are in hundredths of the currencies that GoPay takes.
var digits = call.Digits{} //nolint:gochecknoglobals // a table

// object is GoPay's view of a payment.
type object struct {
	ID          json.Number `json:"id"`
	OrderNumber string      `json:"order_number"`
	State       string      `json:"state"`
	Amount      int64       `json:"amount"`
	Currency    string      `json:"currency"`
	Target      struct {
		GoID json.Number `json:"goid"`
	} `json:"target"`
	AdditionalParams []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"additional_params"`
}

// references are the marks of ours that the payment bears: notifications prove nothing of whose
// it is. The shop's own order number is none.
func (p object) references() []string {
	var names []string
	for _, param := range p.AdditionalParams {
		if param.Name == "payment_attempt_id" && param.Value != "" {
			names = append(names, param.Value)
		}
	}
	if _, ours := payment.OwnAttemptID(p.OrderNumber); ours {
		names = append(names, p.OrderNumber)
	}
	return names
}

func (p object) refunded() bool { return p.State == "REFUNDED" || p.State == "PARTIALLY_REFUNDED" }

// outcome maps a payment by its state. Until it is paid it waits for its customer, who may
// choose another method. An unrecognized state is processing.
func (c *Client) outcome(p object) (gateway.Outcome, error) {
	if p.ID == "" || p.State == "" {
		return gateway.Outcome{}, errNameless
	}
	if goid := p.Target.GoID.String(); goid != "" && goid != c.goid {
		return gateway.Outcome{}, fmt.Errorf("%w: the payment is of another shop", gateway.ErrNoSuchPayment)
	}
	o := gateway.Outcome{ProviderPaymentID: p.ID.String(), News: fsm.NewsProcessing, References: p.references()}
	var err error
	switch p.State {
	case "CREATED", "PAYMENT_METHOD_CHOSEN":
		o.News = fsm.NewsActionRequired
	case "AUTHORIZED":
		o.News = fsm.NewsAuthorized
		o.Money, err = digits.Money(p.Amount, p.Currency)
	case "PAID", "REFUNDED", "PARTIALLY_REFUNDED":
		o.News = fsm.NewsSucceeded
		o.Money, err = digits.Money(p.Amount, p.Currency)
	case "CANCELED":
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure("canceled", "")
	case "TIMEOUTED":
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure("expired", "")
	}
	return o, err
}

// refund is GoPay's view of one.
type refund struct {
	ID       json.Number `json:"id"`
	State    string      `json:"state"`
	Amount   int64       `json:"amount"`
	Currency string      `json:"currency"`
}

// outcome is that of a refund of a payment in that currency.
func (r refund) outcome(currency string) (gateway.RefundOutcome, error) {
	if r.ID == "" || r.State == "" {
		return gateway.RefundOutcome{}, errNameless
	}
	o := gateway.RefundOutcome{ProviderRefundID: r.ID.String(), News: fsm.NewsProcessing}
	switch r.State {
	case "SUCCESS":
		o.News = fsm.NewsSucceeded
	case "FAILED":
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure("provider_rejected", "")
	}
	var err error
	o.Money, err = digits.Money(r.Amount, cmp.Or(r.Currency, currency))
	return o, err
}
