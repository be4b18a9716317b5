package paypal

import (
	"context"
	"errors"

	"github.com/paylatch/paylatch/internal/payment"
)

const (
	ordersPath         = "/v2/checkout/orders"
	capturesPath       = "/v2/payments/captures"
	authorizationsPath = "/v2/payments/authorizations"
	refundsPath        = "/v2/payments/refunds"
)

// Lookup implements payment.Provider.
func (c *Client) Lookup(ctx context.Context, id string) (payment.Outcome, error) {
	found, err := c.find(ctx, id, nil)
	if err != nil {
		return payment.Outcome{}, err
	}
	return outcome(found)
}

// Find implements payment.Provider: PayPal has no such call.
func (c *Client) Find(context.Context, payment.AttemptID) (payment.Outcome, error) {
	return payment.Outcome{}, payment.ErrUnsupported
}

// find returns the order that an id names. A webhook that was first may have
// named the payment by its capture or its authorization, and the ids look alike.
func (c *Client) find(ctx context.Context, id string, l *payment.Licence) (order, error) {
	found, err := c.order(ctx, id, l)
	if !errors.Is(err, payment.ErrNoSuchPayment) {
		return found, err
	}
	taken, err := c.movement(ctx, capturesPath, id, l)
	if err == nil {
		return c.around(ctx, taken, payments{Captures: []movement{taken}}, l)
	}
	if !errors.Is(err, payment.ErrNoSuchPayment) {
		return order{}, err
	}
	held, err := c.movement(ctx, authorizationsPath, id, l)
	if err != nil {
		return order{}, err
	}
	return c.around(ctx, held, payments{Authorizations: []movement{held}}, l)
}

func (c *Client) order(ctx context.Context, id string, l *payment.Licence) (order, error) {
	var found order
	err := c.get(ctx, ordersPath, id, l, &found)
	if err == nil && (found.ID == "" || found.Status == "") {
		err = errNameless
	}
	return found, err
}

func (c *Client) movement(ctx context.Context, path, id string, l *payment.Licence) (movement, error) {
	var found movement
	err := c.get(ctx, path, id, l, &found)
	if err == nil && (found.ID == "" || found.Status == "") {
		err = errNameless
	}
	return found, err
}

// around returns the order that a capture or an authorization is in; one of which
// none is known stands for itself.
func (c *Client) around(ctx context.Context, part movement, alone payments, l *payment.Licence) (order, error) {
	if id := part.SupplementaryData.RelatedIDs.OrderID; id != "" {
		if found, err := c.order(ctx, id, l); !errors.Is(err, payment.ErrNoSuchPayment) {
			return found, err
		}
	}
	return order{ID: part.ID, PurchaseUnits: []unit{{Payments: alone}}}, nil
}
