package yookassa

import (
	"context"
	"net/url"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

type captureRequest struct {
	Amount  amount   `json:"amount"`
	Receipt *receipt `json:"receipt,omitempty"`
}

// Capture implements gateway.Provider (https://yookassa.ru/developers/api#capture_payment). YooKassa releases the
// uncaptured rest.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	value, err := kit.Decimal(cp.Money)
	if err != nil {
		return gateway.Outcome{}, err
	}
	on, err := c.receiptOf(cp.Receipt, cp.Money.Currency)
	if err != nil {
		return gateway.Outcome{}, err
	}
	body := captureRequest{amount{value, string(cp.Money.Currency)}, on}
	return c.command(ctx, cp.ProviderPaymentID, "capture", cp.IdempotencyKey, cp.Permit, body)
}

// Cancel implements gateway.Provider. YooKassa cancels only holds (https://yookassa.ru/developers/api#cancel_payment).
// It refuses to cancel a payment that the customer has not confirmed, and lets it expire.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	if err := kit.EndsNoContainer(cl); err != nil {
		return gateway.Outcome{}, err
	}
	return c.command(ctx, cl.ProviderPaymentID, "cancel", cl.IdempotencyKey, cl.Permit, kit.NoBody)
}

// command sends a command. After a refusal it looks the payment up and returns the payment's state.
func (c *Client) command(ctx context.Context, id, verb, key string, l gateway.Permit, body any) (gateway.Outcome, error) {
	var moved object
	refused, err := c.api.Post(ctx, paymentPath(id)+"/"+verb, keyed(key), l, body, &moved)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		return outcome(moved)
	case refused.Missing():
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	now, _, err := c.standing(ctx, id)
	now.Refused = true
	return now, err
}

func paymentPath(id string) string { return "/payments/" + url.PathEscape(id) }
