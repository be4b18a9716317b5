package checkout

import (
	"context"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// pages maps the id prefixes of the containers that can be looked up to their addresses: hosted payment pages and
// payment links (https://api-reference.checkout.com/#operation/getHostedPaymentsPageDetails,
// …/#operation/getPaymentLinkDetails).
var pages = map[string]string{"hpp_": "/hosted-payments/", "pl_": "/payment-links/"} //nolint:gochecknoglobals // a table

// page returns the address of a container, or "" for the id of a payment.
func page(id string) string {
	for prefix, path := range pages {
		if strings.HasPrefix(id, prefix) {
			return path + url.PathEscape(id)
		}
	}
	return ""
}

// lookupPage returns the state of a page's payment, or of the page if it has no payment yet.
func (c *Client) lookupPage(ctx context.Context, id string) (gateway.Outcome, error) {
	var found struct {
		ID        string `json:"id"`
		Status    string `json:"status"`
		PaymentID string `json:"payment_id"`
	}
	if err := c.api.Get(ctx, page(id), nil, &found); err != nil {
		return gateway.Outcome{}, err
	}
	o := gateway.Outcome{Event: fsm.EventProcessing}
	switch {
	case found.ID != id || found.Status == "":
		return gateway.Outcome{}, errNameless
	case found.PaymentID != "":
		var err error
		if o, err = c.Lookup(ctx, found.PaymentID); err != nil {
			return gateway.Outcome{}, err
		}
	case found.Status == "Active", found.Status == "Payment Pending":
		o.Event = fsm.EventActionRequired
	case found.Status == "Expired":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("expired", "")
	}
	o.Container, o.References = id, append(o.References, id)
	return o, nil
}
