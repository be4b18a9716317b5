package robokassa

import (
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// Codes of an operation's state (https://docs.robokassa.ru/ru/xml-interfaces, "State"). What was refunded by
// the refund API stays paid.
const (
	stateInitiated, stateCancelled, stateHeld, stateReturned, statePaid = 5, 10, 20, 60, 100
)

// outcome maps an operation by its state. A cancelled one may still be paid: its link can be opened again. The
// states of money that was received and is not credited yet (50), or that is held up (80), and unrecognized
// ones, are processing.
func (c *Client) outcome(invoice string, p operationState) (gateway.Outcome, error) {
	o := gateway.Outcome{ProviderPaymentID: invoice, News: fsm.NewsProcessing}
	for _, field := range p.Fields {
		if strings.EqualFold(field.Name, mark) && field.Value != "" {
			o.References = append(o.References, field.Value)
		}
	}
	var err error
	switch *p.State {
	case stateInitiated:
		o.News = fsm.NewsActionRequired
	case stateCancelled:
		o.News, o.PageOpen, o.Failure = fsm.NewsSoftFailed, true, payment.NewFailure("not_paid", "10")
	case stateHeld:
		o.News = fsm.NewsAuthorized
		o.Money, err = c.money(p.Sum)
	case stateReturned:
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure("canceled", "60")
	case statePaid:
		o.News = fsm.NewsSucceeded
		o.Money, err = c.money(p.Sum)
	}
	return o, err
}

// money reads an amount of the shop's currency; nil if the response has none.
func (c *Client) money(text string) (*payment.Money, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no amount is no error
	}
	return call.ReadDecimal(text, string(c.shop.Currency))
}
