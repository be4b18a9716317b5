// Package gocardless verifies and makes webhooks of GoCardless
// (https://developer.gocardless.com/getting-started/staying-up-to-date-with-webhooks): the header Webhook-Signature,
// the hex HMAC-SHA256 of the raw body, over a batch of up to 250 events.
package gocardless

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider to those that set it up.
func About() webhooks.About {
	return webhooks.About{
		Name:         "GoCardless",
		Header:       "Webhook-Signature (hex HMAC-SHA256 over the body)",
		EventID:      "native: events[].id (EV…), up to 250 of them in one body",
		Ack:          "any 2xx",
		RetryHorizon: "not documented; the whole batch is sent again",
		Keys:         []webhooks.Key{webhooks.SecretsKey()},
		Quirks: []string{
			"An event has no amount: the payment must be asked for.",
			"confirmed may still turn into failed (late failure) or charged_back, days later.",
			"The status 498 is documented for a wrong signature; any other refusal does as well.",
			"failed looks the same before and after the confirmation; only what was known before tells.",
			"failed with will_attempt_retry is not final: GoCardless collects the same payment again.",
			"A billing request is a container: fulfilled names the payment that it has made, cancelled ends it without one; its other events are ignored.",
			"links.organisation of an event is who is paid; put it into organisation where one endpoint serves several.",
			"The official Go library refuses some genuine bodies that end in a line feed; here the whole body counts.",
		},
		Setup: [5]string{
			"Dashboard, Developers, Create, Webhook endpoint: the address of the account's endpoint.",
			"Give it a secret, or take the one that is made, and put it into webhook_secrets.",
			"Put an access token that may read and write into api_key; reading is enough where all payments are begun elsewhere.",
			"Payments that are not made here: send the payment attempt's id as metadata payment_attempt_id of the payment.",
			"Send a test webhook from the dashboard: its events are recorded as deferred, and GoCardless has none of the payments that they name.",
		},
		Reference: webhooks.ReferenceForm{
			MetadataKey: "payment_attempt_id",
			Doc:         "Put it into metadata of the payment; events have it as resource_metadata (https://developer.gocardless.com/api-reference/#core-endpoints-events; that these are the payment's is from memory), and don't carry the payment's reference. The payment is looked up before what events say counts, and so is a refund, whose events name no payment.",
		},
	}
}
