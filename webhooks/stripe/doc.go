// Package stripe verifies and makes webhooks of Stripe. The header Stripe-Signature has "t=<seconds>" and one
// "v1=<hex>" for each live secret (https://docs.stripe.com/webhooks, "Verify webhook signatures manually").
package stripe

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Stripe",
		Header:       "Stripe-Signature (HMAC-SHA256 over a time and the body, one for each live secret)",
		EventID:      "native: id (evt_…)",
		Ack:          "any 2xx",
		RetryHorizon: "live: up to 3 days, at growing intervals; sandbox: 3 times over a few hours",
		Methods:      "`payment_method.updated`, `payment_method.automatically_updated`, `payment_method.detached`, `customer.source.updated`, `customer.source.deleted`. `payment_method.attached`, `customer.source.created` and `customer.source.expiring` are ignored: they change nothing.",
		Reviews:      "`review.opened`, `review.closed`, and the `review` of a payment intent or a charge",
		Keys:         []webhooks.Key{webhooks.SecretsKey()},
		Quirks: []string{
			"A payment is a payment intent (pi_…). A Checkout session (cs_…) is its container.",
			"payment_intent.payment_failed is not final: the customer may try again on the same intent.",
			"A customer can change client_reference_id in a payment link. An attempt's id that is only there is a claim.",
			"Before API version 2025-03-31 amount_refunded of a charge also counts the released rest of a partial capture.",
			"A review of Radar is open as soon as a payment names it. review.closed ends the review: the reasons approved and acknowledged approve the payment, every other reason declines it.",
			"With connect, add the endpoint at the platform, for events on connected accounts. It gets the events of all connected accounts; paylatch counts the events of account only.",
			"A timestamp may be 5 minutes old, and at most an hour ahead.",
		},
		Setup: []string{
			"Dashboard, Developers, Webhooks: add an endpoint of API version 2025-03-31 or later with the address of the account's endpoint.",
			"Choose the events payment_intent.*, charge.*, refund.*, review.* and, with Checkout, checkout.session.*. With stored payment methods choose payment_method.* and customer.source.*, too.",
			"Reveal the endpoint's signing secret and put the whole text (whsec_…) into webhook_secrets.",
		},
		Reference: webhooks.ReferenceForm{
			MetadataKey: attemptKey,
			Doc:         "Put it into metadata of the payment intent (https://docs.stripe.com/api/metadata). With Checkout and payment links, put it into payment_intent_data.metadata and into metadata of the session, because Stripe does not copy one to the other. Only the session's events carry client_reference_id.",
		},
	}
}
