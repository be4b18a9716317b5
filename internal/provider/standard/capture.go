package standard

import (
	"context"
	"net/url"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Capture implements gateway.Provider.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	body := CaptureRequest{Amount: cp.Money.Minor}
	if cp.Several {
		body.Final = &cp.Final
	}
	return c.command(ctx, cp.ProviderPaymentID, "capture", cp.IdempotencyKey, cp.Permit, body)
}

// Cancel implements gateway.Provider.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	if err := kit.EndsNoContainer(cl); err != nil {
		return gateway.Outcome{}, err
	}
	return c.command(ctx, cl.ProviderPaymentID, "cancel", cl.IdempotencyKey, cl.Permit, struct{}{})
}

// command sends a command. After a refusal it looks the charge up and returns the charge's state.
func (c *Client) command(ctx context.Context, id, verb, key string, l gateway.Permit, body any) (gateway.Outcome, error) {
	var moved Charge
	refused, err := c.api.Post(ctx, "/v1/charges/"+url.PathEscape(id)+"/"+verb, keyed(key), l, body, &moved)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		return outcome(moved)
	case refused.Missing():
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	now, err := c.Lookup(ctx, id)
	now.Refused = true
	return now, err
}
