// Package paddle verifies and makes webhooks of Paddle Billing
// (https://developer.paddle.com/webhooks/signature-verification): the header Paddle-Signature with "ts=<seconds>" and
// one "h1=<hex>" for each live secret, the HMAC-SHA256 of the time, ":" and the raw body.
package paddle

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider to those that set it up.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Paddle Billing",
		Header:       "Paddle-Signature (ts, a time, and for each live secret an h1, a hex HMAC-SHA256 over the time and the body)",
		EventID:      "native: event_id, the same in all retries",
		Ack:          "200 within 5 s",
		RetryHorizon: "live: 60 tries over 3 days; sandbox: 3 in 15 minutes",
		Keys:         []webhooks.Key{webhooks.SecretsKey()},
		Quirks: []string{
			"A signature may be 5 seconds old, as Paddle recommends: set tolerance if the clock is not kept by NTP.",
			"Two h1 come while a secret is rotated; the official Go SDK refuses them.",
			"transaction.payment_failed is not final: the customer may try again on the same transaction.",
			"A transaction is a payment, with all tries in its checkout. A browser may have written its custom_data, because Paddle.js takes customData with a public client-side token (https://developer.paddle.com/paddlejs/methods/paddle-checkout-open).",
			"Refunds and chargebacks are adjustments; they don't carry custom_data.",
			"Amounts are texts in minor units.",
		},
		Setup: []string{
			"Developer tools, Notifications, New destination: webhook, with the address of the account's endpoint.",
			"Choose transaction.* and adjustment.*.",
			"Put the endpoint secret key (pdl_ntfset_…), the whole text, into webhook_secrets.",
		},
		Reference: webhooks.ReferenceForm{
			MetadataKey: "payment_attempt_id",
			Doc:         "Put it into custom_data of the transaction, or customData of Paddle.js (https://developer.paddle.com/build/transactions/custom-data). Adjustments don't carry it: the transaction's id finds them, which the first event of the transaction brings. Paddle copies it to the renewals of a subscription, where it does not count: each is another sale.",
		},
	}
}
