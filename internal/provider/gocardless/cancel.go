package gocardless

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// Capture implements gateway.Provider. GoCardless has no holds.
func (c *Client) Capture(context.Context, gateway.Capture) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}

// Cancel implements gateway.Provider. A billing request can be cancelled until it has created a payment. The cancel
// closes its pages (https://developer.gocardless.com/api-reference/#billing-requests-cancel-a-billing-request). A
// payment can be cancelled until it is submitted to the bank
// (https://developer.gocardless.com/api-reference/#payments-cancel-a-payment). Cancel looks the object up before and
// after the command, so a repeated cancel finds it cancelled.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	if cl.ProviderPaymentID != "" || cl.Container == "" {
		p, err := c.debit(ctx, cl.ProviderPaymentID, &cl.Permit)
		if err != nil {
			return gateway.Outcome{}, err
		}
		return c.cancelDebit(ctx, cl, p)
	}
	b, err := c.billing(ctx, cl.Container, &cl.Permit)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case b.Links.Payment != "":
		p, err := c.made(ctx, b)
		if err != nil {
			return gateway.Outcome{}, err
		}
		return c.cancelDebit(ctx, cl, p)
	case b.outcome().Event == fsm.EventActionRequired:
		return c.act(ctx, cl, "billing_requests", b.ID)
	}
	return c.stands(ctx, cl)
}

func (c *Client) cancelDebit(ctx context.Context, cl gateway.Cancel, p debit) (gateway.Outcome, error) {
	if _, err := outcome(p); err != nil {
		return gateway.Outcome{}, err
	}
	if p.Status != "pending_submission" {
		return c.stands(ctx, cl)
	}
	return c.act(ctx, cl, "payments", p.ID)
}

// act sends the cancel of an object. The lookup afterwards shows whether GoCardless refused it.
func (c *Client) act(ctx context.Context, cl gateway.Cancel, collection, id string) (gateway.Outcome, error) {
	path := "/" + collection + "/" + url.PathEscape(id) + "/actions/cancel"
	header := http.Header{"Idempotency-Key": {cl.IdempotencyKey}}
	if _, err := c.api.Post(ctx, path, header, cl.Permit, struct{}{}, nil); err != nil {
		return gateway.Outcome{}, err
	}
	return c.stands(ctx, cl)
}

// stands returns the state of a payment or a billing request after a cancel. Refused is set unless the object has
// failed.
func (c *Client) stands(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	now, err := c.Lookup(ctx, cmp.Or(cl.ProviderPaymentID, cl.Container))
	now.Refused = err == nil && now.Event != fsm.EventFailed
	return now, err
}
