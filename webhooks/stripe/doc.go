// Package stripe verifies and makes webhooks of Stripe (https://docs.stripe.com/webhooks, "Verify webhook signatures
// manually"): the header Stripe-Signature with "t=<seconds>" and one "v1=<hex>" for each live secret.
package stripe

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider to those that set it up.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Stripe",
		Header:       "Stripe-Signature (t, a time, and for each live secret a v1, a hex HMAC-SHA256 over the time and the body)",
		EventID:      "native: id (evt_…)",
		Ack:          "any 2xx",
		RetryHorizon: "live: up to 3 days, ever more slowly; sandbox: 3 times over a few hours",
		Keys:         []webhooks.Key{webhooks.SecretsKey()},
		Quirks: []string{
			"The key is the whole text of the secret, whsec_ included: it is not base64.",
			"A timestamp may be 5 minutes old, and at most an hour ahead, which Stripe's libraries don't check.",
			"A payment is a payment intent (pi_…). A Checkout session (cs_…) is its page: the session's events name the intent once it exists, checkout.session.expired never.",
			"account names the connected account that was paid; events of the endpoint's own account lack it.",
			"Metadata are written with a secret key only. A customer can change client_reference_id in a payment link: where it alone has the attempt's id, that is a claim.",
			"payment_intent.payment_failed is not final: the customer may try again on the same intent.",
			"Amounts of ISK and UGX have two digits, amounts of MGA none.",
			"amount_refunded of a charge is a total. Before API version 2025-03-31 it also counts the released rest of a partial capture.",
		},
		Setup: []string{
			"Dashboard, Developers, Webhooks: add an endpoint of API version 2025-03-31 or later with the address of the account's endpoint.",
			"Choose the events payment_intent.*, charge.*, refund.* and, with Checkout, checkout.session.*.",
			"Reveal the endpoint's signing secret (whsec_…) and put it into webhook_secrets.",
		},
		Reference: webhooks.ReferenceForm{
			MetadataKey: attemptKey,
			Doc:         "Put it into metadata of the payment intent (https://docs.stripe.com/api/metadata). With Checkout and payment links, give it as payment_intent_data.metadata, and as metadata of the session as well: neither copies the other's. client_reference_id is carried by the session's events alone.",
		},
	}
}
