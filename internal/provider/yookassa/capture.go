package yookassa

import (
	"context"
	"net/url"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

type captureRequest struct {
	Amount amount `json:"amount"`
}

// Capture implements payment.Provider. What is not captured is released
// (https://yookassa.ru/developers/api#capture_payment).
func (c *Client) Capture(ctx context.Context, cp payment.Capture) (payment.Outcome, error) {
	value, err := call.Decimal(cp.Money)
	if err != nil {
		return payment.Outcome{}, err
	}
	body := captureRequest{amount{value, string(cp.Money.Currency)}}
	return c.command(ctx, cp.ProviderPaymentID, "capture", cp.IdempotencyKey, cp.Licence, body)
}

// Cancel implements payment.Provider. YooKassa cancels only what is held
// (https://yookassa.ru/developers/api#cancel_payment); what its customer has not
// confirmed yet it refuses to, and lets it expire by itself.
func (c *Client) Cancel(ctx context.Context, cl payment.Cancel) (payment.Outcome, error) {
	return c.command(ctx, cl.ProviderPaymentID, "cancel", cl.IdempotencyKey, cl.Licence, struct{}{})
}

// command moves a payment. When it is refused the payment itself is asked: what
// counts is how it stands.
func (c *Client) command(ctx context.Context, id, verb, key string, l payment.Licence, body any) (payment.Outcome, error) {
	var moved object
	refused, err := c.post(ctx, paymentPath(id)+"/"+verb, key, l, body, &moved)
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case refused == nil:
		return outcome(moved)
	case refused.missing():
		return payment.Outcome{}, payment.ErrNoSuchPayment
	}
	now, err := c.Lookup(ctx, id)
	now.Refused = true
	return now, err
}

func paymentPath(id string) string { return "/payments/" + url.PathEscape(id) }
