package gopay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/paylatch/paylatch/internal/gateway"
)

// Lookup implements gateway.Provider (https://doc.gopay.com, "Payment status" and "Payment
// refunds"). The refunds of a payment are listed apart, once its state says that there are any.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	a, err := c.get(ctx, paymentPath(id))
	if err != nil {
		return gateway.Outcome{}, err
	}
	var found object
	if err := a.Read(&found); err != nil {
		return gateway.Outcome{}, err
	}
	o, err := c.outcome(found)
	if err != nil || !found.refunded() {
		return o, err
	}
	o.Refunds, err = c.refunds(ctx, id, found.Currency)
	return o, err
}

func (c *Client) refunds(ctx context.Context, id, currency string) ([]gateway.RefundOutcome, error) {
	a, err := c.get(ctx, paymentPath(id)+"/refunds")
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return nil, errNameless // the payment is there
	case err != nil:
		return nil, err
	}
	var listed []refund
	if err := json.Unmarshal(a.Body, &listed); err != nil {
		return nil, fmt.Errorf("read the refunds of a payment: %w", err)
	}
	all := make([]gateway.RefundOutcome, len(listed))
	for i, r := range listed {
		if all[i], err = r.outcome(currency); err != nil {
			return nil, err
		}
	}
	return all, nil
}
