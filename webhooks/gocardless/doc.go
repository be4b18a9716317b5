// Package gocardless verifies and makes webhooks of GoCardless. The header Webhook-Signature is the hex HMAC-SHA256 of
// the raw body, a batch of up to 250 events
// (https://developer.gocardless.com/getting-started/staying-up-to-date-with-webhooks).
package gocardless

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "GoCardless",
		Header:       "Webhook-Signature (HMAC-SHA256 over the body)",
		EventID:      "native: events[].id (EV…), up to 250 of them in one body",
		Ack:          "any 2xx",
		RetryHorizon: "not documented; the whole batch is sent again",
		Methods:      "the mandate's `cancelled`, `failed`, `expired`, `replaced`, `consumed`, `blocked`, `suspended_by_payer` remove it; `reinstated` and `resumed` restore it; `transferred` updates it. The actions before its first use are ignored, because the payment itself reports a stored mandate.",
		Reviews:      "none",
		Keys:         []webhooks.Key{webhooks.SecretsKey()},
		Quirks: []string{
			"An event has no amount: the payment is looked up.",
			"confirmed may become failed (late failure) or charged_back, days later.",
			"failed with will_attempt_retry is not final: GoCardless collects the same payment again.",
			"A billing request is a container. fulfilled names its payment, cancelled ends it without one.",
			"If one endpoint serves several organisations, put the account's organisation into organisation.",
		},
		Setup: []string{
			"Dashboard, Developers, Create, Webhook endpoint: the address of the account's endpoint.",
			"Choose a secret or keep the generated secret, and put it into webhook_secrets.",
			"Put an access token with read and write access into api_key; read access is enough if all payments are begun outside paylatch.",
			"Send a test webhook from the dashboard. Its events are recorded as deferred, because GoCardless does not have their payments.",
		},
		Reference: webhooks.ReferenceForm{
			MetadataKey: "payment_attempt_id",
			Doc:         "Put it into metadata of the payment; events carry it as resource_metadata (https://developer.gocardless.com/api-reference/#core-endpoints-events). As far as we remember, resource_metadata is the payment's metadata; the documentation does not say so. Events don't carry the payment's reference.",
		},
	}
}
