package robokassa

import (
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// These are codes of an operation's state (https://docs.robokassa.ru/ru/xml-interfaces, "State"). A refund by the refund
// API leaves the state "paid".
const (
	stateInitiated, stateCancelled, stateHeld, stateReturned, statePaid = 5, 10, 20, 60, 100
)

// outcome maps an operation by its state. A cancelled operation may still be paid, because its link can be opened again.
// Money that was received and is not credited yet (50) or is held up (80) is processing, and so is an unrecognized
// state.
func (c *Client) outcome(invoice string, p operationState) (gateway.Outcome, error) {
	o := gateway.Outcome{ProviderPaymentID: invoice, Event: fsm.EventProcessing}
	for _, field := range p.Fields {
		if strings.EqualFold(field.Name, mark) && field.Value != "" {
			o.References = append(o.References, field.Value)
		}
	}
	var err error
	switch *p.State {
	case stateInitiated:
		o.Event = fsm.EventActionRequired
	case stateCancelled:
		o.Event, o.PageOpen, o.Failure = fsm.EventSoftFailed, true, payment.NewFailure("not_paid", "10")
	case stateHeld:
		o.Event = fsm.EventAuthorized
		o.Money, err = c.money(p.Sum)
	case stateReturned:
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("canceled", "60")
	case statePaid:
		o.Event = fsm.EventSucceeded
		o.Money, err = c.money(p.Sum)
	}
	return o, err
}

// money parses an amount in the shop's currency. It returns nil if the response has no amount.
func (c *Client) money(text string) (*payment.Money, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // a response without an amount
	}
	return kit.ReadDecimal(text, string(c.shop.Currency))
}
