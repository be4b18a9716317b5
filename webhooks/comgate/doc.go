// Package comgate verifies and makes notifications of Comgate. A notification is a form with the shop's secret itself
// in the field secret; nothing is signed (https://apidoc.comgate.cz/en/push-notifikace).
package comgate

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Comgate",
		Header:       "the form's field secret, which is the shop's secret itself; nothing is signed",
		EventID:      "derived: transId and status",
		Ack:          "200 and code=0&message=OK, as far as we remember",
		RetryHorizon: "not documented",
		Methods:      "none: a stored card is a payment",
		Reviews:      "none",
		Keys:         []webhooks.Key{webhooks.SecretsKey()},
		Quirks: []string{
			"paylatch looks up the payment before it applies a form.",
			"Comgate sends no notification of refunds.",
			"test marks a test payment, which moves no money of a live account.",
			"Keep the bodies of this endpoint out of every log, because they hold the secret.",
		},
		Setup: []string{
			"Client portal, the shop's connection: set the https address of the account's endpoint for background results.",
			"Put the shop's secret into webhook_secrets and its number into merchant.",
			"Allow the service's address to call Comgate's API there.",
		},
		Reference: webhooks.ReferenceForm{
			Field: "refId",
			Doc:   "Put it into refId when the payment is created (https://apidoc.comgate.cz/en/prubeh-platby).",
		},
	}
}
