// Package gocardless verifies and makes webhooks of GoCardless. The header Webhook-Signature is the hex HMAC-SHA256 of
// the raw body, a batch of up to 250 events
// (https://developer.gocardless.com/getting-started/staying-up-to-date-with-webhooks).
package gocardless

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider to those that set it up.
func About() webhooks.About {
	return webhooks.About{
		Name:         "GoCardless",
		Header:       "Webhook-Signature (HMAC-SHA256 over the body)",
		EventID:      "native: events[].id (EV…), up to 250 of them in one body",
		Ack:          "any 2xx",
		RetryHorizon: "not documented; the whole batch is sent again",
		Methods:      "the mandate's `cancelled`, `failed`, `expired`, `replaced`, `consumed`, `blocked`, `suspended_by_payer` remove it; `reinstated` and `resumed` restore it; `transferred` updates it. The actions before its first use are ignored: a mandate that a payment stored comes with the payment.",
		Reviews:      "none",
		Keys:         []webhooks.Key{webhooks.SecretsKey()},
		Quirks: []string{
			"An event has no amount: the payment is looked up.",
			"confirmed may become failed (late failure) or charged_back, days later.",
			"failed with will_attempt_retry is not final: GoCardless collects the same payment again.",
			"A billing request is a container. fulfilled names its payment, cancelled ends it without one.",
			"If one endpoint serves several organisations, put the account's own into organisation.",
		},
		Setup: []string{
			"Dashboard, Developers, Create, Webhook endpoint: the address of the account's endpoint.",
			"Give it a secret, or take the one that is made, and put it into webhook_secrets.",
			"Put an access token that may read and write into api_key; reading is enough where all payments are begun elsewhere.",
			"Send a test webhook from the dashboard: its events are recorded as deferred, and GoCardless has none of the payments that they name.",
		},
		Reference: webhooks.ReferenceForm{
			MetadataKey: "payment_attempt_id",
			Doc:         "Put it into metadata of the payment; events carry it as resource_metadata (https://developer.gocardless.com/api-reference/#core-endpoints-events; that this is the payment's is from memory). Events don't carry the payment's reference.",
		},
	}
}
