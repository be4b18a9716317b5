// Package mollie verifies and makes webhooks of Mollie. They come in two forms to the same address: the classic form
// with the id of a payment and no signature, and the next generation's JSON with X-Mollie-Signature
// (https://docs.mollie.com/reference/webhooks).
package mollie

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Mollie",
		Header:       "classic: none, the payment is looked up; next generation: X-Mollie-Signature (HMAC-SHA256 over the body)",
		EventID:      "classic: derived, one for each arrival; the looked-up state is deduplicated; next generation: native: id (event_… or whe_…)",
		Ack:          "any 2xx within 15 s, also for an unknown id",
		RetryHorizon: "10 tries over about 26 hours",
		Methods:      "none: mandates have no webhooks",
		Reviews:      "none",
		Unsigned:     true,
		Keys:         []webhooks.Key{webhooks.SecretsKey()},
		Quirks: []string{
			"Mollie also sends a classic notice for refunds and chargebacks. The status stays paid, and the amounts show the change.",
			"Most webhooks are classic notices with a lookup. An event of the next generation without a payload (_embedded) is looked up. An event of a refund, capture or chargeback without _links.entity waits for a person, because it names no payment.",
			"A payment is tr_…. A payment link (pl_…) and an order (ord_…) are containers.",
		},
		Setup: []string{
			"Put the address of the account's endpoint into public_url: each payment's webhookUrl is set to it.",
			"Put the API key of the profile into api_key: without it a notice can't be looked up.",
			"For webhooks of the next generation: Developers, Webhooks, add the same address with payment.*, refund.*, capture.* and chargeback.*; choose the full payload.",
			"Copy the signing secret that is shown once into webhook_secrets. After a rotation keep the old secret for a day, too.",
		},
		Reference: webhooks.ReferenceForm{
			MetadataKey: "payment_attempt_id",
			Doc:         "Put it into metadata of the payment, as an object (https://docs.mollie.com/reference/create-payment). A classic notice has only the id (tr_…): the lookup finds the metadata. Without api_key, report the id.",
		},
	}
}
