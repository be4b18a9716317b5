// Package mollie verifies and makes webhooks of Mollie (https://docs.mollie.com/reference/webhooks), which come in two
// forms to the same address: the classic one, a form with the id of a payment and no signature, and the next
// generation's, JSON with X-Mollie-Signature.
package mollie

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider to those that set it up.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Mollie",
		Header:       "classic: nothing, the payment must be asked for; next generation: X-Mollie-Signature (sha256= and a hex HMAC-SHA256 over the body)",
		EventID:      "classic: derived, one for each arrival: the object's id, time; what the fetch finds is what is deduplicated; next generation: native: id (event_… or whe_…)",
		Ack:          "any 2xx within 15 s, also for an id that Mollie does not know",
		RetryHorizon: "10 tries over about 26 hours",
		Unsigned:     true,
		Keys:         []webhooks.Key{webhooks.SecretsKey()},
		Quirks: []string{
			"A classic notice says nothing but an id, and comes for refunds and chargebacks too: status stays paid, the amounts tell.",
			"For 24 hours after a secret is rotated the signature's header comes twice.",
			"payment.*, refund.*, capture.* and chargeback.* of the next generation are read as Mollie's API description has them; the classic notice, which is asked about, is the normal way.",
			"An event without a payload (_embedded) is asked about. One of a refund, capture or chargeback says whose it is by _links.entity alone, and waits for a person where that is missing.",
			"A payment is tr_…. A payment link (pl_…) and an order (ord_…) are containers: a notice that names only one of them is asked about.",
			"capture.failed leaves the money held: it is no failure of the payment.",
			"A chargeback has taken the money already; chargeback.reversed brings it back.",
		},
		Setup: [5]string{
			"Put the address of the account's endpoint into public_url: each payment's webhookUrl is set to it.",
			"Put the API key of the profile into api_key: without it a notice can't be looked up.",
			"For webhooks of the next generation: Developers, Webhooks, add the same address with payment.*, refund.*, capture.* and chargeback.*; choose the full payload.",
			"Copy the signing secret that is shown once into webhook_secrets.",
			"To rotate, put the new secret beside the old one for a day.",
		},
		Reference: webhooks.ReferenceForm{
			MetadataKey: "payment_attempt_id",
			Doc:         "Put it into metadata of the payment, as an object (https://docs.mollie.com/reference/create-payment). A classic notice says only the id (tr_…): the metadata are found when the payment is looked up, which needs api_key; without one, report the id. Events of the next generation carry them with a full payload.",
		},
	}
}
