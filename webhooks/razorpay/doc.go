// Package razorpay verifies and makes webhooks of Razorpay. The header X-Razorpay-Signature is the hex HMAC-SHA256 of
// the raw body (https://razorpay.com/docs/webhooks/validate-test/).
package razorpay

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Razorpay",
		Header:       "X-Razorpay-Signature (HMAC-SHA256 over the body)",
		EventID:      "derived: event, created_at and the ids of the entities",
		Ack:          "any 2xx within 5 s",
		RetryHorizon: "for 24 hours, at growing intervals; then the webhook is disabled",
		Methods:      "`token.*` are ignored: stored methods are not charged here",
		Reviews:      "none",
		Keys:         []webhooks.Key{webhooks.SecretsKey()},
		Quirks: []string{
			"pay_… is the payment; order_… and plink_… are containers.",
			"payment.failed is not final: the customer may pay the same order, or link, again.",
			"The notes of a payment are options of Checkout, which the browser sets. An attempt's id that is only in them is a claim. The notes of an order or a link, the receipt and the reference_id need the secret.",
		},
		Setup: []string{
			"Dashboard, Account & Settings, Webhooks: add the address of the account's endpoint.",
			"Choose payment_link.*, payment.authorized, payment.captured, payment.failed, order.paid, refund.* and payment.dispute.*.",
			"Make up a secret there and put it into webhook_secrets.",
			"After a change of the secret keep the old secret as the second one for at least a day, because repeated deliveries have the old secret's signature.",
		},
		Reference: webhooks.ReferenceForm{
			MetadataKey: "payment_attempt_id",
			Doc:         "Put it into notes: of the order and again among the options of Checkout, or of the payment link (https://razorpay.com/docs/api/payments/). Only order.paid has an order's receipt.",
		},
	}
}
