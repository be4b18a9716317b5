// Package braintree verifies and makes webhooks of Braintree. A webhook is a form with bt_payload, base64 of XML, and
// bt_signature, "<public key>|<hex HMAC-SHA1>", several of them joined by "&"
// (https://developer.paypal.com/braintree/docs/guides/webhooks/parse). The key is the SHA-1 digest of the private key,
// as in Braintree's libraries.
package braintree

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Braintree",
		Header:       "the form's bt_signature (the public key and an HMAC-SHA1 over bt_payload)",
		EventID:      "derived: kind, timestamp and the ids in it",
		Ack:          "any 2xx within 30 s",
		RetryHorizon: "hourly for 24 hours; sandbox: for 3 hours",
		Methods:      "`payment_method_customer_data_updated`, `payment_method_revoked_by_customer`. `account_updater_daily_report` is ignored, because it is a link to a file. Events of granted methods are ignored, because they belong to other merchants.",
		Reviews:      "a transaction whose risk decision is `Review`; `transaction_reviewed` ends it",
		Keys:         []webhooks.Key{webhooks.SecretsKey(), {Name: "public_key", Doc: "Braintree's public key"}},
		Quirks: []string{
			"A transaction is a payment. A local payment (PAY-…) is a container and takes no money without a transaction.",
			"Cards have no notification of their authorization or capture; transaction_settled is for bank debits.",
			"local_payment_completed without a transaction is a hold: make the sale, or Braintree returns the money.",
			"transaction_settlement_declined of a refund may arrive after its settlement.",
		},
		Setup: []string{
			"Put the private key into webhook_secrets, the public key into public_key and the merchant id into merchant_id.",
			"Start the service, because the next step calls its address at once (?bt_challenge=…); the service answers with a signature.",
			"Control Panel, Settings, API, Webhooks: add the address of the account's endpoint.",
			"Choose transaction, local payment, dispute and refund notifications.",
			"Press Check URL to test the address.",
		},
		Reference: webhooks.ReferenceForm{
			Field: "order_id",
			Doc:   "Put it into order_id of the transaction (https://developer.paypal.com/braintree/docs/reference/request/transaction/sale). A card payment has no webhook, and a local payment without a transaction has only its payment id. Report the id that Braintree returns.",
		},
	}
}
