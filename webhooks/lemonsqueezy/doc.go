// Package lemonsqueezy verifies and makes webhooks of Lemon Squeezy. The header X-Signature is the hex HMAC-SHA256 of
// the raw body (https://docs.lemonsqueezy.com/help/webhooks/signing-requests).
package lemonsqueezy

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Lemon Squeezy",
		Header:       "X-Signature (HMAC-SHA256 over the body)",
		EventID:      "derived: event, object, status, refunded amount and updated_at",
		Ack:          "exactly 200",
		RetryHorizon: "3 tries, after 5, 25 and 125 s",
		Methods:      "none: stored methods are not charged here",
		Reviews:      "none",
		Keys:         []webhooks.Key{webhooks.SecretsKey()},
		Quirks: []string{
			"Each order of a link is a payment. A failed order leaves the page open (https://docs.lemonsqueezy.com/guides/developer-guide/taking-payments).",
			"An invoice of a subscription is a payment, subscription-invoices/ID. The first invoice is ignored, because its order reports the same money.",
		},
		Setup: []string{
			"Settings, Webhooks: add the address of the account's endpoint.",
			"Make up a signing secret of 6 to 40 characters and put it into webhook_secrets.",
			"Choose order_created, order_refunded and subscription_payment_*.",
			"Put an API key, the store's and a variant's ids and the store's currency into api_key, store_id, variant_id and store_currency.",
			"Make an order in test mode, or send a simulated event.",
		},
		Reference: webhooks.ReferenceForm{
			MetadataKey: "payment_attempt_id",
			Doc:         "Put it into checkout_data.custom of the checkout, or as checkout[custom][payment_attempt_id] into its link (https://docs.lemonsqueezy.com/help/checkout/passing-custom-data). Renewals of a subscription carry the id too, but paylatch ignores it there because each renewal is another sale.",
		},
	}
}
