// Package lemonsqueezy verifies and makes webhooks of Lemon Squeezy
// (https://docs.lemonsqueezy.com/help/webhooks/signing-requests): the header X-Signature, the hex HMAC-SHA256 of the
// raw body.
package lemonsqueezy

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider to those that set it up.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Lemon Squeezy",
		Header:       "X-Signature (hex HMAC-SHA256 over the body)",
		EventID:      "derived: event name, object type and id, status, refunded amount and updated_at",
		Ack:          "exactly 200",
		RetryHorizon: "3 tries, after 5, 25 and 125 s",
		Keys:         []webhooks.Key{webhooks.SecretsKey()},
		Quirks: []string{
			"After some three minutes of downtime nothing is repeated: look the missed events up.",
			"The header X-Event-Name is not signed; the name in the body counts.",
			"refunded_amount is the total so far.",
			"A link can be paid more than once until it expires. Each time makes an order with the same mark, and each order is a payment. A failed order leaves the page open (https://docs.lemonsqueezy.com/guides/developer-guide/taking-payments).",
			"An invoice of a subscription is a payment, subscription-invoices/ID. The first invoice is ignored, because its order has the same money.",
			"Custom data are part of a link's address, where a browser can change them: a claim.",
			"Amounts are integers called cents. Their meaning for currencies without cents is not documented.",
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
			Doc:         "Put it into checkout_data.custom of the checkout, or as checkout[custom][payment_attempt_id] into its link; events carry it as meta.custom_data (https://docs.lemonsqueezy.com/help/checkout/passing-custom-data). Renewals of a subscription carry it too, where it does not count: each is another sale.",
		},
	}
}
