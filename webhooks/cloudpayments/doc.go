// Package cloudpayments verifies and makes notifications of CloudPayments and TipTopPay. The headers Content-HMAC and
// X-Content-HMAC have the base64 of an HMAC-SHA256 over the body, or over the query string if the cabinet is set to GET
// (https://developers.cloudpayments.ru/#uvedomleniya).
//
// The address of a notification, not its body, has the meaning: [webhooks.Delivery.Topic] is check, pay, fail, confirm,
// refund, cancel, recurrent or receipt. The topic is not signed, so that each address in the cabinet must end in its own
// topic. Without a topic a genuine delivery is KindIgnored.
//
// A check is a question ([webhooks.KindQuestion]), decided by [Verifier.Answer]. One of a payout or a refund is
// KindIgnored, which Ack accepts.
package cloudpayments

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "CloudPayments",
		Header:       "Content-HMAC and X-Content-HMAC (HMAC-SHA256 over the body or query string, raw or decoded)",
		EventID:      "derived: topic and TransactionId",
		Ack:          `200 {"code":0}; to check also 10 unknown, 12 amount, 13 refused, 20 expired; redirects are not followed`,
		RetryHorizon: "up to 100 times, as far as we remember",
		Methods:      "none",
		Reviews:      "none",
		Keys:         []webhooks.Key{webhooks.SecretsKey(), webhooks.CurrencyKey()},
		Quirks: []string{
			"CloudPayments sends check before it takes the payment. Without a response it refuses the payment.",
			"A transaction is a payment. fail ends its own transaction; the payer may try again in another transaction with the same InvoiceId.",
		},
		Setup: []string{
			"Cabinet, the site's settings, Notifications: switch on pay, fail, confirm, refund, cancel and check.",
			"Set for each notification the address of the account's endpoint with the notification's topic at the end: …/pay, …/fail, … Only the address shows the type of a notification.",
			"Leave the method POST and the encoding UTF-8.",
			"Put the API secret (password for API) into webhook_secrets.",
		},
		Reference: webhooks.ReferenceForm{
			Field:       "InvoiceId",
			MetadataKey: "payment_attempt_id",
			Doc:         "Put it into InvoiceId (invoiceId of the widget) or JsonData (data of the widget) (https://developers.cloudpayments.ru/#sozdanie-scheta-dlya-otpravki-po-pochte).",
		},
	}
}
