package gocardless

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// Capture implements gateway.Provider: nothing is held at GoCardless.
func (c *Client) Capture(context.Context, gateway.Capture) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}

// Cancel implements gateway.Provider. A billing request is cancelled until it has made a payment, which ends its pages
// (https://developer.gocardless.com/api-reference/#billing-requests-cancel-a-billing-request); a payment until it is
// submitted to the bank (https://developer.gocardless.com/api-reference/#payments-cancel-a-payment). Each is looked up
// before and after: a cancel that comes again finds it cancelled.
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
	case b.outcome().News == fsm.NewsActionRequired:
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

// act sends the cancel of an object. What a refusal is about the lookup after it shows.
func (c *Client) act(ctx context.Context, cl gateway.Cancel, collection, id string) (gateway.Outcome, error) {
	path := "/" + collection + "/" + url.PathEscape(id) + "/actions/cancel"
	header := http.Header{"Idempotency-Key": {cl.IdempotencyKey}}
	if _, err := c.api.Post(ctx, path, header, cl.Permit, struct{}{}, nil); err != nil {
		return gateway.Outcome{}, err
	}
	return c.stands(ctx, cl)
}

// stands is how a payment, or a billing request, stands after a cancel, refused unless it is over.
func (c *Client) stands(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	now, err := c.Lookup(ctx, cmp.Or(cl.ProviderPaymentID, cl.Container))
	now.Refused = err == nil && now.News != fsm.NewsFailed
	return now, err
}
