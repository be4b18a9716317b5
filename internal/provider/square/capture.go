package square

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

type updateRequest struct {
	IdempotencyKey string `json:"idempotency_key"`
	Payment        struct {
		Amount money `json:"amount_money"`
	} `json:"payment"`
}

// Capture implements payment.Provider. What is taken is the payment's amount. A
// part is taken by lowering that first; it can be done again, with the same key,
// before it is completed. Not to take the part after all, but everything, is to
// raise it again, which Square does for some payments and refuses for others
// (https://developer.squareup.com/docs/payments-api/update-payments).
func (c *Client) Capture(ctx context.Context, cp payment.Capture) (payment.Outcome, error) {
	met := func(o payment.Outcome) bool {
		return o.News == fsm.NewsSucceeded && o.Money != nil && *o.Money == cp.Money
	}
	fits, err := c.fits(ctx, cp)
	if err != nil {
		return payment.Outcome{}, err
	}
	if !fits {
		change := updateRequest{IdempotencyKey: cp.IdempotencyKey}
		change.Payment.Amount = moneyOf(cp.Money)
		_, refused, err := c.command(ctx, http.MethodPut, paymentPath(cp.ProviderPaymentID), cp.Licence, change)
		if err != nil || refused != nil {
			return c.refused(ctx, cp.ProviderPaymentID, refused, err, met)
		}
	}
	return c.move(ctx, cp.ProviderPaymentID, "complete", cp.Licence, met)
}

// fits reports whether a payment is known to have the amount that is to be taken.
// For a part nobody asks: it costs no more to set it.
func (c *Client) fits(ctx context.Context, cp payment.Capture) (bool, error) {
	if !cp.Whole {
		return false, nil
	}
	now, err := c.get(ctx, paymentPath(cp.ProviderPaymentID), &cp.Licence)
	return err == nil && now.Payment != nil && now.Payment.Amount != nil && *now.Payment.Amount == moneyOf(cp.Money), err
}

// Cancel implements payment.Provider.
func (c *Client) Cancel(ctx context.Context, cl payment.Cancel) (payment.Outcome, error) {
	return c.move(ctx, cl.ProviderPaymentID, "cancel", cl.Licence, func(o payment.Outcome) bool { return o.News == fsm.NewsFailed })
}

// move completes or cancels a payment. Square takes no key for either: the same
// command again is refused, and what counts is that the payment stands as it was
// to (met).
func (c *Client) move(ctx context.Context, id, verb string, l payment.Licence, met func(payment.Outcome) bool) (payment.Outcome, error) {
	got, refused, err := c.command(ctx, http.MethodPost, paymentPath(id)+"/"+verb, l, struct{}{})
	if err != nil || refused != nil {
		return c.refused(ctx, id, refused, err, met)
	}
	return outcome(got.Payment)
}

// refused asks the payment itself when a command was refused.
func (c *Client) refused(ctx context.Context, id string, r *refusal, err error, met func(payment.Outcome) bool) (payment.Outcome, error) {
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case r.missing():
		return payment.Outcome{}, payment.ErrNoSuchPayment
	case r.turnedAway():
		return payment.Outcome{}, r.err()
	}
	now, err := c.Lookup(ctx, id)
	now.Refused = !met(now)
	return now, err
}
