// Package paddle verifies and makes webhooks of Paddle Billing. The header Paddle-Signature has "ts=<seconds>" and one
// "h1=<hex>" for each live secret, the HMAC-SHA256 of the time, ":" and the raw body
// (https://developer.paddle.com/webhooks/signature-verification).
package paddle

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Paddle Billing",
		Header:       "Paddle-Signature (HMAC-SHA256 over a time and the body, one for each live secret)",
		EventID:      "native: event_id",
		Ack:          "200 within 5 s",
		RetryHorizon: "live: 60 tries over 3 days; sandbox: 3 in 15 minutes",
		Methods:      "`payment_method.saved` and `payment_method.deleted` are ignored: stored methods are not charged here",
		Reviews:      "none",
		Keys:         []webhooks.Key{webhooks.SecretsKey()},
		Quirks: []string{
			"A signature may be 5 seconds old, as Paddle recommends. Set tolerance if NTP does not set the clock.",
			"transaction.payment_failed is not final: the customer may try again on the same transaction.",
			"A transaction is a payment, with all tries in its checkout. Refunds and chargebacks are adjustments.",
		},
		Setup: []string{
			"Developer tools, Notifications, New destination: webhook, with the address of the account's endpoint.",
			"Choose transaction.* and adjustment.*.",
			"Put the endpoint secret key (pdl_ntfset_…), the whole text, into webhook_secrets.",
		},
		Reference: webhooks.ReferenceForm{
			MetadataKey: "payment_attempt_id",
			Doc:         "Put it into custom_data of the transaction, or customData of Paddle.js (https://developer.paddle.com/build/transactions/custom-data). Adjustments don't carry the id: paylatch finds their payment after an event of the transaction has arrived. Paddle copies the id to the renewals of a subscription, where paylatch ignores it because each renewal is another sale.",
		},
	}
}
