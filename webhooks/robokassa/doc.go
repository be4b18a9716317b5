// Package robokassa verifies and makes notifications of Robokassa. A notification to the ResultURL is a form, or a
// query string, with SignatureValue: the hex of a hash over "OutSum:InvId:Password2" and the merchant's own parameters,
// ":Shp_name=value", sorted by name (https://docs.robokassa.ru/pay-interface/#notification). The browser's return to
// SuccessURL is signed by Password1 and proves nothing.
package robokassa

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Robokassa",
		Header:       "the form's SignatureValue (a hash over OutSum, InvId, Password2 and the Shp_ parameters)",
		EventID:      "derived: InvId",
		Ack:          "200 with OK and the InvId, as in OK58",
		RetryHorizon: "repeatedly, minutes apart; the end is not documented",
		Methods:      "none: stored methods are not charged here",
		Reviews:      "none",
		Keys: []webhooks.Key{
			webhooks.SecretsKey(),
			{Name: "hash", Optional: true, Doc: "Robokassa's hash; absent: md5"},
			webhooks.CurrencyKey(),
		},
		Quirks: []string{
			"Only a succeeded payment is notified; lookups find failures.",
			"The hash ripemd160 is not supported.",
			"Documented senders, for allowed_ips: 185.59.216.65 and 185.59.217.65.",
		},
		Setup: []string{
			"Cabinet, My shops, Technical settings: set ResultURL to the address of the account's endpoint, method POST.",
			"Choose the hash there (sha256 is better than md5) and put its name into hash.",
			"Put Password2 into webhook_secrets, or the test Password2 while testing.",
			"Put the shop's identifier into merchant_login, and Password1 (for refunds Password3, too) into password1 and password3.",
			"Make a test payment. Robokassa shows an error unless the response is OK and the InvId.",
		},
		Reference: webhooks.ReferenceForm{
			MetadataKey: "Shp_payment_attempt_id",
			Doc:         "Send it as a parameter with that name, and sign it in the request after Password1 (https://docs.robokassa.ru/pay-interface/). InvId is a number that the shop chooses: report it as the provider's id of the payment.",
		},
	}
}
