package paypal

import (
	"cmp"
	"context"
	"errors"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

const (
	ordersPath         = "/v2/checkout/orders"
	capturesPath       = "/v2/payments/captures"
	authorizationsPath = "/v2/payments/authorizations"
	refundsPath        = "/v2/payments/refunds"
)

// Lookup implements gateway.Provider. An order contains its refunds, but no disputes. The list of disputes has "a
// summary set of details" (https://developer.paypal.com/docs/api/customer-disputes/v1/#disputes_list). It does not
// contain a dispute's result, so it does not show whether the dispute took the money. Webhooks and the books report
// disputes instead.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	found, err := c.find(ctx, id, "", nil)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return outcomeNamed(found, id)
}

// Find implements gateway.Provider: PayPal has no such call.
func (c *Client) Find(context.Context, payment.AttemptID) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}

// find returns the order of a payment. If the client knows the order's id, find reads the order by it, because the ids
// of orders, authorizations and captures look alike. PayPal deletes an order earlier than the refund period of its
// captures ends.
func (c *Client) find(ctx context.Context, id, container string, l *gateway.Permit) (order, error) {
	in := cmp.Or(container, c.orders.of(id), id)
	if in == "" {
		return order{}, gateway.ErrInconclusive
	}
	found, err := c.order(ctx, in, l)
	_, has := found.named(id)
	switch {
	case err == nil && (has || id == "" || id == in):
		return found, nil
	case err != nil && (!errors.Is(err, gateway.ErrNoSuchPayment) || id == ""):
		return order{}, err
	}
	taken, err := c.movement(ctx, capturesPath, id, l)
	if err == nil {
		return c.around(ctx, taken, payments{Captures: []movement{taken}}, l)
	}
	if !errors.Is(err, gateway.ErrNoSuchPayment) {
		return order{}, err
	}
	held, err := c.movement(ctx, authorizationsPath, id, l)
	if err != nil {
		return order{}, err
	}
	return c.around(ctx, held, payments{Authorizations: []movement{held}}, l)
}

func (c *Client) order(ctx context.Context, id string, l *gateway.Permit) (order, error) {
	var found order
	err := c.get(ctx, ordersPath, id, l, &found)
	if err == nil && (found.ID == "" || found.Status == "") {
		err = errNameless
	}
	if err == nil {
		c.orders.note(found)
	}
	return found, err
}

func (c *Client) movement(ctx context.Context, path, id string, l *gateway.Permit) (movement, error) {
	var found movement
	err := c.get(ctx, path, id, l, &found)
	if err == nil && (found.ID == "" || found.Status == "") {
		err = errNameless
	}
	return found, err
}

// around returns the order of a capture or an authorization. If PayPal has deleted the order, it returns an order that
// contains only this part.
func (c *Client) around(ctx context.Context, part movement, alone payments, l *gateway.Permit) (order, error) {
	if id := part.SupplementaryData.RelatedIDs.OrderID; id != "" {
		if found, err := c.order(ctx, id, l); !errors.Is(err, gateway.ErrNoSuchPayment) {
			return found, err
		}
	}
	return order{PurchaseUnits: []unit{{Payments: alone}}}, nil
}
