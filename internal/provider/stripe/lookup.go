package stripe

import (
	"context"
	"net/url"
	"strings"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// Lookup implements gateway.Provider. The charge is expanded, with its refunds: all of both is in one response, but for the
// disputes of a charge that has any. A session is looked up for its payment.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	if strings.HasPrefix(id, sessionPrefix) {
		return c.lookupSession(ctx, id)
	}
	found, err := c.intent(ctx, id)
	if err != nil {
		return gateway.Outcome{}, err
	}
	o, err := outcome(found)
	if err == nil {
		err = c.withMoved(ctx, &o, found)
	}
	return c.withSaved(ctx, o, err)
}

// standing is how a payment stands, without what happened after its capture: all that a command needs.
func (c *Client) standing(ctx context.Context, id string) (gateway.Outcome, error) {
	var found stripe.PaymentIntent
	if err := c.get(ctx, intentPath(id), &stripe.PaymentIntentRetrieveParams{}, &found); err != nil {
		return gateway.Outcome{}, err
	}
	o, err := outcome(&found)
	return c.withSaved(ctx, o, err)
}

func intentPath(id string) string { return "/v1/payment_intents/" + url.PathEscape(id) }

// Find implements gateway.Provider. Stripe's search lags, also in the state of a
// payment that it finds: so only the id is used. Of several payments the one that has come furthest is returned.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	p := &stripe.PaymentIntentSearchParams{}
	p.Query = "metadata['payment_attempt_id']:'" + id.String() + "'"
	var hits page[stripe.PaymentIntent]
	if err := c.get(ctx, "/v1/payment_intents/search", p, &hits); err != nil {
		return gateway.Outcome{}, err
	}
	if hits.Data == nil {
		return gateway.Outcome{}, errNameless
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
		found = call.Further(found, o)
	}
	if found.ProviderPaymentID == "" {
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	return found, nil
}
