package razorpay

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Lookup implements gateway.Provider. The id is that of a payment, or of the link or order that contains the payment. A
// payment names its order only, and a link has an order as well. Refunds take a further request. Lookup lists them for a
// captured payment with a refunded amount, and for each paid link, because a link states only the payment's id.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	if isPayment(id) {
		var found paid
		if err := c.api.Get(ctx, paymentPath(id), nil, &found); err != nil {
			return gateway.Outcome{}, err
		}
		if found.Status == statusFailed && found.Notes[flowNote] == intent && isOrder(found.OrderID) {
			return c.lookupOrder(ctx, found.OrderID, nil) // the notes of a payment may be the browser's, those of an order are ours
		}
		o, err := found.outcome()
		if err != nil || found.Refunded == 0 {
			return o, err
		}
		return c.withRefunds(ctx, o, found.ID)
	}
	if isOrder(id) {
		return c.lookupOrder(ctx, id, nil)
	}
	var found link
	if err := c.api.Get(ctx, linkPath(id), nil, &found); err != nil {
		return gateway.Outcome{}, err
	}
	o, err := found.outcome()
	if found.Status == statusCreated && found.OrderID != "" && err == nil {
		return c.tries(ctx, found.OrderID, o)
	}
	if found.Status == statusPaid && len(found.Payments) > 1 && err == nil {
		one, err := c.lookupOrder(ctx, found.OrderID, nil) // the link states the sum of its payments
		one.Container, one.References = o.Container, o.References
		return one, missing(err)
	}
	if found.Status == statusPaid && len(found.Payments) > 0 && err == nil {
		return c.withRefunds(ctx, o, found.Payments[0].PaymentID)
	}
	return o, err
}

// withRefunds adds the refunds of a captured payment.
func (c *Client) withRefunds(ctx context.Context, o gateway.Outcome, of string) (gateway.Outcome, error) {
	if o.Event != fsm.EventSucceeded {
		return o, nil
	}
	err := c.eachRefund(ctx, of, func(r refund) (bool, error) {
		one, err := r.outcome()
		o.Refunds = append(o.Refunds, one)
		return false, err
	})
	return o, missing(err)
}

// tries returns the outcome of an open link whose order has payments. The link itself does not show a payment before it
// is paid (https://razorpay.com/docs/api/orders/fetch-payments/).
func (c *Client) tries(ctx context.Context, order string, o gateway.Outcome) (gateway.Outcome, error) {
	made, err := c.paymentsOf(ctx, order, nil)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return o, nil // the link itself exists
	case err != nil:
		return gateway.Outcome{}, err
	}
	p, held := best(made)
	if !held && p.Status != statusFailed {
		return o, nil
	}
	now, err := p.outcome()
	now.Container, now.References = o.Container, o.References
	return now, err
}

// paymentsOf returns the payments of an order, unsorted.
func (c *Client) paymentsOf(ctx context.Context, order string, l *gateway.Permit) ([]paid, error) {
	var made struct {
		Items []paid `json:"items"`
	}
	err := c.api.Get(ctx, orderPath(order)+"/payments", l, &made)
	if err == nil && made.Items == nil {
		err = errNameless
	}
	return made.Items, err
}

func lastOf(made []paid) (last paid) {
	for _, p := range made {
		if p.CreatedAt >= last.CreatedAt {
			last = p
		}
	}
	return last
}

func isPayment(id string) bool { return strings.HasPrefix(id, "pay_") }

// Find implements gateway.Provider (https://razorpay.com/docs/api/payments/payment-links/fetch-all-standard/). It
// searches for a link, then for an order, and looks up the link or order that it found.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	found, err := c.named(ctx, id, nil)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return c.Lookup(ctx, found)
}

// named returns the id of the attempt's link or order.
func (c *Client) named(ctx context.Context, id payment.AttemptID, l *gateway.Permit) (string, error) {
	found, err := c.find(ctx, id, l)
	if !errors.Is(err, gateway.ErrNoSuchPayment) {
		return found.ID, err
	}
	made, err := c.findOrder(ctx, id, l)
	return made.ID, err
}

func (c *Client) find(ctx context.Context, id payment.AttemptID, l *gateway.Permit) (link, error) {
	var list struct {
		Links []link `json:"payment_links"`
	}
	query := url.Values{"reference_id": {id.String()}}
	if err := c.api.Get(ctx, "/payment_links/?"+query.Encode(), l, &list); err != nil {
		return link{}, err
	}
	if list.Links == nil {
		return link{}, errNameless
	}
	for _, found := range list.Links {
		if found.ReferenceID == id.String() {
			return found, nil
		}
	}
	return link{}, gateway.ErrNoSuchPayment
}
