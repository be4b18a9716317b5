package comgate

import (
	"context"
	"fmt"
	"strconv"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// digits are the decimals of ISO 4217. Prices are in hundredths of the currencies that Comgate accepts.
var digits = kit.Digits{} //nolint:gochecknoglobals // a table

// Lookup implements gateway.Provider.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	found, err := c.status(ctx, id, nil)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return outcome(id, found)
}

// Find implements gateway.Provider: Comgate has no such method.
func (c *Client) Find(context.Context, payment.AttemptID) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}

// outcome maps a payment by its status. A pending payment waits for its customer or for the customer's bank. A pending
// recurring payment has the same status. An unrecognized status is processing.
func outcome(id string, p answer) (gateway.Outcome, error) {
	o := gateway.Outcome{ProviderPaymentID: id, Payee: p.get("merchant"), Live: p.live(), Event: fsm.EventProcessing}
	if ref := p.get("refId"); ref != "" {
		o.References = []string{ref}
	}
	var err error
	switch p.get("status") {
	case "":
		return gateway.Outcome{}, errNameless
	case "PENDING":
		o.Event = fsm.EventActionRequired
	case "AUTHORIZED":
		o.Event, o.Saved = fsm.EventAuthorized, saved(id, p)
		o.Money, err = money(p)
	case "PAID":
		o.Event, o.Saved = fsm.EventSucceeded, saved(id, p)
		o.Money, err = money(p)
	case "CANCELLED":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("canceled", "")
	}
	return o, err
}

// live returns nil if the answer does not state whether the payment is a test.
func (a answer) live() *bool {
	switch a.get("test") {
	case "true":
		return new(false)
	case "false":
		return new(true)
	}
	return nil
}

func money(p answer) (*payment.Money, error) {
	price, err := strconv.ParseInt(p.get("price"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read the price: %w", err)
	}
	return digits.Money(price, p.get("curr"))
}
