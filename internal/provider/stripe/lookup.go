package stripe

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Lookup implements gateway.Provider. It expands the charge and its refunds, so one response contains both. The disputes
// of a disputed charge take another request. For the id of a session, it looks up the session's payment.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	if strings.HasPrefix(id, sessionPrefix) {
		return c.lookupSession(ctx, id)
	}
	found, err := c.intent(ctx, id)
	if err != nil {
		return gateway.Outcome{}, err
	}
	o, err := c.outcome(found)
	if err == nil {
		err = c.withMoved(ctx, &o, found)
	}
	o.Review = c.reviewNow(ctx, o.Review)
	return c.withSaved(ctx, o, err)
}

// reviewNow looks up the review that a payment names (https://docs.stripe.com/api/radar/reviews/retrieve). A review that can't be looked
// up, as with a restricted key, is not stated: it may have ended.
func (c *Client) reviewNow(ctx context.Context, named *payment.ReviewReport) *payment.ReviewReport {
	if named == nil {
		return nil
	}
	var found stripe.Review
	if c.get(ctx, "/v1/reviews/"+url.PathEscape(named.ID), &stripe.ReviewRetrieveParams{}, &found) != nil || found.ID != named.ID {
		return nil
	}
	return review(&found)
}

// standing returns the state of a payment without refunds and disputes. A command needs no more.
func (c *Client) standing(ctx context.Context, id string) (gateway.Outcome, error) {
	var found stripe.PaymentIntent
	if err := c.get(ctx, intentPath(id), &stripe.PaymentIntentRetrieveParams{}, &found); err != nil {
		return gateway.Outcome{}, err
	}
	o, err := c.outcome(&found)
	return c.withSaved(ctx, o, err)
}

func intentPath(id string) string { return "/v1/payment_intents/" + url.PathEscape(id) }

// Find implements gateway.Provider. Stripe's search lags, and the state of a found payment may be outdated. So Find uses
// only the ids. If there are several payments, it returns the most advanced payment. More payments than a page has are
// inconclusive.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	p := &stripe.PaymentIntentSearchParams{}
	p.Limit = new(int64(pageSize))
	p.Query = "metadata['payment_attempt_id']:'" + id.String() + "'"
	var hits page[stripe.PaymentIntent]
	if err := c.get(ctx, "/v1/payment_intents/search", p, &hits); err != nil {
		return gateway.Outcome{}, err
	}
	switch {
	case hits.Data == nil:
		return gateway.Outcome{}, errNameless
	case hits.HasMore:
		return gateway.Outcome{}, fmt.Errorf("%w: more than %d payments of one reference", gateway.ErrInconclusive, pageSize)
	}
	var found gateway.Outcome
	for _, hit := range hits.Data {
		if hit.Metadata["payment_attempt_id"] != id.String() {
			continue
		}
		o, err := c.Lookup(ctx, hit.ID)
		if err != nil {
			return gateway.Outcome{}, err
		}
		found = kit.Further(found, o)
	}
	if found.ProviderPaymentID == "" {
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	return found, nil
}
