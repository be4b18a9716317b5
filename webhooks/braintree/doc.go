// Package braintree verifies and makes webhooks of Braintree
// (https://developer.paypal.com/braintree/docs/guides/webhooks/parse): a form with bt_payload, base64 of XML, and
// bt_signature, "<public key>|<hex HMAC-SHA1>", several of them joined by "&". The key is the SHA-1 digest of the
// private key, as Braintree's libraries have it.
package braintree

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider to those that set it up.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Braintree",
		Header:       "the form's bt_signature (the public key and a hex HMAC-SHA1 over bt_payload, which is base64 of XML)",
		EventID:      "derived: kind, timestamp and the ids of what it speaks of",
		Ack:          "any 2xx within 30 s",
		RetryHorizon: "hourly for 24 hours; sandbox: for 3 hours",
		Keys:         []webhooks.Key{webhooks.SecretsKey(), {Name: "public_key", Doc: "Braintree's public key"}},
		Quirks: []string{
			"Setting the webhook up asks the address with ?bt_challenge=…, which is answered with a signature.",
			"A transaction is a payment; a local payment (PAY-…) is the container of one, and takes no money without it. order_id is given with the private key.",
			"merchant-account-id says which merchant account was paid, where a notification has it; the secret is the merchant's own.",
			"Cards have no notification of their authorisation or capture: transaction_settled is for bank debits.",
			"local_payment_completed without a transaction is a hold: somebody has to make the sale, or it is reversed.",
			"transaction_settlement_declined of a refund may come after it had settled.",
			"Amounts are decimal texts; some notifications leave the currency out.",
		},
		Setup: [5]string{
			"Put the private key into webhook_secrets, the public key into public_key and the merchant id into merchant_id.",
			"Start the service: the next step asks its address at once.",
			"Control Panel, Settings, API, Webhooks: add the address of the account's endpoint.",
			"Choose transaction, local payment, dispute and refund notifications.",
			"Send the payment attempt's id as order_id of the transaction; press Check URL to try it.",
		},
		Reference: webhooks.ReferenceForm{
			Field: "order_id",
			Doc:   "Put it into order_id of the transaction; its webhooks carry it (https://developer.paypal.com/braintree/docs/reference/request/transaction/sale). A local payment that has no transaction yet is named by its payment id alone, and cards have no webhook at all: report the id that Braintree returns.",
		},
	}
}
