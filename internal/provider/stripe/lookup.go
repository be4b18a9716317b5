package stripe

import (
	"context"
	"net/url"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/payment"
)

// Lookup implements payment.Provider.
func (c *Client) Lookup(ctx context.Context, id string) (payment.Outcome, error) {
	var found stripe.PaymentIntent
	if err := c.get(ctx, intentPath(id), &stripe.PaymentIntentRetrieveParams{}, &found); err != nil {
		return payment.Outcome{}, err
	}
	return outcome(&found)
}

func intentPath(id string) string { return "/v1/payment_intents/" + url.PathEscape(id) }

// Find implements payment.Provider. Stripe's search trails, also in what it says
// of a payment that it knows: so it is asked only for the id.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (payment.Outcome, error) {
	p := &stripe.PaymentIntentSearchParams{}
	p.Query = "metadata['payment_attempt_id']:'" + id.String() + "'"
	var hits page[stripe.PaymentIntent]
	if err := c.get(ctx, "/v1/payment_intents/search", p, &hits); err != nil {
		return payment.Outcome{}, err
	}
	if hits.Data == nil {
		return payment.Outcome{}, errNameless
	}
	for _, hit := range hits.Data {
		if hit.Metadata["payment_attempt_id"] == id.String() {
			return c.Lookup(ctx, hit.ID)
		}
	}
	return payment.Outcome{}, payment.ErrNoSuchPayment
}
