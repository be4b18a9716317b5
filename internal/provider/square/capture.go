package square

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

type updateRequest struct {
	IdempotencyKey string `json:"idempotency_key"`
	Payment        struct {
		Amount money `json:"amount_money"`
	} `json:"payment"`
}

// Capture implements gateway.Provider. It captures the payment's amount. For a partial capture, it first lowers that
// amount. This call can be repeated with the same key until the payment is completed. For a full capture after that, it
// raises the amount again, which Square allows for some payments and refuses for others
// (https://developer.squareup.com/docs/payments-api/update-payments).
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	met := func(o gateway.Outcome) bool {
		return o.Event == fsm.EventSucceeded && o.Money != nil && *o.Money == cp.Money
	}
	fits, err := c.fits(ctx, cp)
	if err != nil {
		return gateway.Outcome{}, err
	}
	if !fits {
		change := updateRequest{IdempotencyKey: cp.IdempotencyKey}
		change.Payment.Amount = moneyOf(cp.Money)
		_, refused, err := c.command(ctx, http.MethodPut, paymentPath(cp.ProviderPaymentID), cp.Permit, change)
		if err != nil || refused != nil {
			return c.refused(ctx, cp.ProviderPaymentID, refused, err, met)
		}
	}
	return c.move(ctx, cp.ProviderPaymentID, "complete", cp.Permit, struct{}{}, met)
}

// fits reports whether the payment already has the amount to capture. For a partial capture it makes no lookup, because
// setting the amount costs no more.
func (c *Client) fits(ctx context.Context, cp gateway.Capture) (bool, error) {
	if !cp.Whole {
		return false, nil
	}
	now, err := c.get(ctx, paymentPath(cp.ProviderPaymentID), &cp.Permit)
	return err == nil && now.Payment != nil && now.Payment.Amount != nil && *now.Payment.Amount == moneyOf(cp.Money), err
}

// move completes or cancels a payment. Square takes no key for either command. It refuses a repeated command, which
// counts as done if the payment has the wanted state (met).
func (c *Client) move(ctx context.Context, id, verb string, l gateway.Permit, body any, met func(gateway.Outcome) bool) (gateway.Outcome, error) {
	got, refused, err := c.command(ctx, http.MethodPost, paymentPath(id)+"/"+verb, l, body)
	if err != nil || refused != nil {
		return c.refused(ctx, id, refused, err, met)
	}
	return c.outcome(got.Payment)
}

// refused looks the payment up after a refused command.
func (c *Client) refused(ctx context.Context, id string, r *refusal, err error, met func(gateway.Outcome) bool) (gateway.Outcome, error) {
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case r.missing():
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	case r.turnedAway():
		return gateway.Outcome{}, r.err()
	}
	now, err := c.get(ctx, paymentPath(id), nil)
	if err != nil {
		return gateway.Outcome{}, err
	}
	o, err := c.outcome(now.Payment)
	o.Refused = !met(o)
	return o, err
}
