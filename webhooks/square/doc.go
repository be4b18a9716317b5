// Package square verifies and makes webhooks of Square. The header x-square-hmacsha256-signature is the base64 of the
// HMAC-SHA256 of the notification URL directly followed by the raw body
// (https://developer.squareup.com/docs/webhooks/step3validate).
package square

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Square",
		Header:       "x-square-hmacsha256-signature (HMAC-SHA256 over the notification URL and the body)",
		EventID:      "native: event_id",
		Ack:          "any 2xx, quickly (older documentation: within 10 s)",
		RetryHorizon: "up to 24 hours (older documentation: 72); an endpoint that keeps failing is disabled",
		Methods:      "`card.updated`, `card.automatically_updated`, `card.disabled`, `card.forgotten`. `card.created` is ignored: it changes nothing.",
		Reviews:      "none: the risk evaluation of a payment is not a review",
		Keys:         []webhooks.Key{webhooks.SecretsKey(), {Name: "public_url"}},
		Quirks: []string{
			"An order is a container. The order of a payment link may have several payments; every other payment has an order of its own.",
			"A subscription reports all sellers of the application. merchant_id is the seller that was paid.",
			"payment.* reports every sale of the seller, also at a till. A sale outside paylatch is unmatched, and foreign ten minutes later.",
			"The object's status and id decide: payment.created may be approved or completed.",
		},
		Setup: []string{
			"Developer Console, the application, Webhooks, Subscriptions: add one with the address of the account's endpoint.",
			"Put exactly this address into public_url. Square signs the address, so one more slash, or http instead of https, breaks every signature.",
			"Choose payment.created, payment.updated, refund.created, refund.updated and dispute.*.",
			"Put the signature key of the subscription into webhook_secrets.",
			"Send a test event from there: it is recorded as unmatched, and as foreign ten minutes later.",
		},
		Reference: webhooks.ReferenceForm{
			Field: "reference_id",
			Doc:   "Put it into reference_id of CreatePayment, which takes up to 40 characters (https://developer.squareup.com/reference/square/payments-api/create-payment). A payment by a payment link has no reference_id: report the order's id that the link returns.",
		},
	}
}
