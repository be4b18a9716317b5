// Package checkout verifies and makes webhooks of Checkout.com. The header Cko-Signature is the hex HMAC-SHA256 of the
// raw body by the signature key; an Authorization header with a fixed text is optional
// (https://www.checkout.com/docs/developer-resources/webhooks/manage-webhooks).
package checkout

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Checkout.com",
		Header:       "Cko-Signature (HMAC-SHA256 over the body); also an Authorization header with your own text, if configured",
		EventID:      "native: id (evt_…)",
		Ack:          "any 2xx within 10 s",
		RetryHorizon: "8 tries after 5, 10, 15 and 30 minutes, 1, 4, 12 and 12 hours",
		Methods:      "none is documented for instruments",
		Reviews:      "none: Checkout.com does not hold a payment that its risk rules flag",
		Keys:         []webhooks.Key{webhooks.SecretsKey(), {Name: "authorization", Optional: true, Secret: true, Doc: "the Authorization header that Checkout.com sends"}},
		Quirks: []string{
			"Each try is a payment (pay_…). A hosted page (hpp_…), a payment link (pl_…) and a payment session (ps_…) are containers.",
			"payment_approved means a hold; payment_captured means captured money.",
			"payment_returned (ACH and the like) takes money back after its success.",
		},
		Setup: []string{
			"Dashboard, Developers, Webhooks (or a workflow): add the address of the account's endpoint.",
			"Choose the payment_* and dispute_* events.",
			"Put the signature key into webhook_secrets.",
			"If you set an authorization header, put its value into authorization.",
		},
		Reference: webhooks.ReferenceForm{
			Field:       "reference",
			MetadataKey: "payment_attempt_id",
			Doc:         "Put it into reference or metadata of the payment, the payment link or the hosted page (https://api-reference.checkout.com/#tag/Payments).",
		},
	}
}
