package checkout

import (
	"context"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// pages are the containers that can be looked up, by how their ids begin: hosted payment pages and payment links
// (https://api-reference.checkout.com/#operation/getHostedPaymentsPageDetails, …/#operation/getPaymentLinkDetails).
var pages = map[string]string{"hpp_": "/hosted-payments/", "pl_": "/payment-links/"} //nolint:gochecknoglobals // a table

// sessionPrefix begins the ids of payment sessions, which the API does not show.
const sessionPrefix = "ps_"

// page returns the address of a container, empty for the id of a payment.
func page(id string) string {
	for prefix, path := range pages {
		if strings.HasPrefix(id, prefix) {
			return path + url.PathEscape(id)
		}
	}
	return ""
}

// lookupPage is how the payment of a page stands, or the page where it has none yet.
func (c *Client) lookupPage(ctx context.Context, id string) (gateway.Outcome, error) {
	var found struct {
		ID        string `json:"id"`
		Status    string `json:"status"`
		PaymentID string `json:"payment_id"`
	}
	if err := c.api.Get(ctx, page(id), nil, &found); err != nil {
		return gateway.Outcome{}, err
	}
	o := gateway.Outcome{News: fsm.NewsProcessing}
	switch {
	case found.ID != id || found.Status == "":
		return gateway.Outcome{}, errNameless
	case found.PaymentID != "":
		var err error
		if o, err = c.Lookup(ctx, found.PaymentID); err != nil {
			return gateway.Outcome{}, err
		}
	case found.Status == "Active", found.Status == "Payment Pending":
		o.News = fsm.NewsActionRequired
	case found.Status == "Expired":
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure("expired", "")
	}
	o.Container, o.References = id, append(o.References, id)
	return o, nil
}
