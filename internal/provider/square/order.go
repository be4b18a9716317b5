package square

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// order is an Order (https://developer.squareup.com/reference/square/objects/Order): a container of payments, such as
// the order of a payment link.
type order struct {
	ID      string `json:"id"`
	State   string `json:"state"`
	Tenders []struct {
		PaymentID string `json:"payment_id"`
	} `json:"tenders"`
}

// lookupOrder returns the state of the most advanced payment of an order, or of the order if it has no payment
// (https://developer.squareup.com/reference/square/orders-api/retrieve-order, which needs the permission ORDERS_READ).
func (c *Client) lookupOrder(ctx context.Context, id string) (gateway.Outcome, error) {
	a, err := kit.Do(ctx, c.http, kit.Request{Method: http.MethodGet, URL: c.base + "/v2/orders/" + url.PathEscape(id), Header: c.header()})
	if err != nil {
		return gateway.Outcome{}, err
	}
	got, refused, err := read(a)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused.missing():
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	case refused != nil:
		return gateway.Outcome{}, fmt.Errorf("%w: it is no payment, and may be an order: %w", gateway.ErrInconclusive, refused.err())
	case got.Order == nil || got.Order.ID != id:
		return gateway.Outcome{}, errNameless
	}
	return c.inOrder(ctx, *got.Order)
}

func (c *Client) inOrder(ctx context.Context, o order) (found gateway.Outcome, err error) {
	for _, t := range o.Tenders {
		if t.PaymentID == "" {
			continue
		}
		got, err := c.get(ctx, paymentPath(t.PaymentID), nil)
		if err != nil {
			return gateway.Outcome{}, unknown(err)
		}
		one, err := c.moved(ctx, got.Payment)
		if err != nil {
			return gateway.Outcome{}, err
		}
		found = kit.Further(found, one)
	}
	if found.ProviderPaymentID != "" {
		return found, nil
	}
	found = gateway.Outcome{Container: o.ID, References: []string{o.ID}, Event: fsm.EventProcessing}
	switch o.State {
	case "OPEN", "DRAFT":
		found.Event = fsm.EventActionRequired
	case "CANCELED":
		found.Event, found.Failure = fsm.EventFailed, payment.NewFailure("canceled", "")
	}
	return found, nil
}
