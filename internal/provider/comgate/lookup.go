package comgate

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// digits are those of ISO 4217: prices are in hundredths of the currencies that Comgate takes.
var digits = call.Digits{} //nolint:gochecknoglobals // a table

// Lookup implements gateway.Provider.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	found, err := c.status(ctx, id)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return outcome(id, found)
}

// outcome maps a payment by its status. One that is pending waits for its customer, or for the
// customer's bank. An unrecognized status is processing.
func outcome(id string, p url.Values) (gateway.Outcome, error) {
	o := gateway.Outcome{ProviderPaymentID: id, News: fsm.NewsProcessing}
	if ref := p.Get("refId"); ref != "" {
		o.References = []string{ref}
	}
	var err error
	switch p.Get("status") {
	case "":
		return gateway.Outcome{}, errNameless
	case "PENDING":
		o.News = fsm.NewsActionRequired
	case "AUTHORIZED":
		o.News = fsm.NewsAuthorized
		o.Money, err = money(p)
	case "PAID":
		o.News = fsm.NewsSucceeded
		o.Money, err = money(p)
	case "CANCELLED":
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure("canceled", "")
	}
	return o, err
}

func money(p url.Values) (*payment.Money, error) {
	price, err := strconv.ParseInt(p.Get("price"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read the price: %w", err)
	}
	return digits.Money(price, p.Get("curr"))
}
