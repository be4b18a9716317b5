package gopay

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Lookup implements gateway.Provider (https://doc.gopay.com, "Payment status" and "Payment refunds"). If the payment's
// state shows refunds, their list takes another request.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	found, err := c.find(ctx, id)
	if err != nil {
		return gateway.Outcome{}, err
	}
	o, err := c.outcome(found)
	if err != nil || !found.refunded() {
		return o, err
	}
	o.Refunds, err = c.refunds(ctx, id, found.Currency, nil)
	return o, err
}

// find reads a payment and checks that it belongs to this shop.
func (c *Client) find(ctx context.Context, id string) (object, error) {
	var found object
	if err := c.api.Get(ctx, paymentPath(id), nil, &found); err != nil {
		return object{}, err
	}
	return found, c.owns(found)
}

// list reads a list of refunds.
func (c *Client) list(ctx context.Context, path string, l *gateway.Permit) ([]refund, error) {
	a, err := c.send(ctx, kit.Request{Method: http.MethodGet, URL: c.api.Base + path, Header: c.api.Header(), Permit: l}, nil)
	if err != nil {
		return nil, err
	}
	if a.Status != http.StatusOK {
		refused, err := readRefusal(a)
		switch {
		case err != nil:
			return nil, err
		case refused.Missing():
			return nil, gateway.ErrNoSuchPayment
		}
		return nil, refused
	}
	var listed []refund
	if err := json.Unmarshal(a.Body, &listed); err != nil {
		return nil, fmt.Errorf("read the refunds of a payment: %w", err)
	}
	if listed == nil {
		return nil, errNameless
	}
	return listed, nil
}
