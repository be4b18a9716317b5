// Package adyen verifies and makes webhooks of Adyen. Standard webhooks have a signature of each item in
// additionalData.hmacSignature. Newer webhooks (tokens, platforms) have a signature of the whole body in the header
// hmacSignature (https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures).
//
// A signature of an item covers eight fields: pspReference, originalReference, merchantAccountCode, merchantReference,
// the amount's value and currency, eventCode and success. No other field may decide about money. The time, the reason and
// the test flag are read although they are not signed, since they don't decide about money.
package adyen

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Adyen",
		Header:       "additionalData.hmacSignature of each item (HMAC-SHA256 over eight fields); newer webhooks: hmacSignature (HMAC-SHA256 over the body); also basic authentication, if configured",
		EventID:      "derived: pspReference, eventCode, success; newer webhooks: native: eventId",
		Ack:          "any 2xx within 10 s",
		RetryHorizon: "3 times at once, then after 2, 5, 10, 15, 30 min, 1, 2, 4, 8 h …, up to 30 days; a failing endpoint holds up all later events",
		Methods:      "`recurring.token.updated`, `recurring.token.disabled`. `recurring.token.created` and `recurring.token.alreadyExisting` are ignored, because the payment itself reports a stored method.",
		Reviews:      "an authorisation with `fraudManualReview`; `MANUAL_REVIEW_ACCEPT` and `MANUAL_REVIEW_REJECT` end it",
		Keys: []webhooks.Key{
			webhooks.SecretsKey(),
			{Name: "basic_auth.user", Optional: true, Doc: "as set at the provider"},
			{Name: "basic_auth.password", Optional: true, Secret: true, Doc: "as set at the provider"},
			{Name: "capture", Optional: true, OneOf: []string{"manual", "automatic"}, Doc: "Adyen: automatic if the merchant account captures at once"},
		},
		Quirks: []string{
			"Each AUTHORISATION is a payment with its own pspReference. A customer who tries two cards on one page makes two payments; a refused payment is final.",
			"CAPTURE with success means that the request was accepted. CAPTURE_FAILED may follow and takes the money back.",
			"Adyen often repeats a failed capture itself: CAPTURE (Transaction Recaptured) changes no amount here.",
			"CANCEL_OR_REFUND does not sign whether it was a cancel or a refund, so a person must check it.",
		},
		Setup: []string{
			"Customer Area, Developers, Webhooks: create a standard webhook with the address of the account's endpoint; switch on OFFER_CLOSED and EXPIRE, which may be off.",
			"In the same webhook, Additional settings, Risk: switch on that dispute events include the originalReference. Without this setting a reversal, a second chargeback and a pre-arbitration name only the dispute, and find their payment only after its CHARGEBACK has arrived.",
			"Generate its HMAC key (hexadecimal) and put it into webhook_secrets.",
			"Optionally set a user name and password there, and put the same into basic_auth.",
			"Send a test of AUTHORISATION from the same page. Adyen must show it as accepted.",
		},
		Reference: webhooks.ReferenceForm{
			Field: "reference",
			Doc:   "Put it into reference of /payments, /sessions or /paymentLinks (https://docs.adyen.com/development-resources/webhooks/webhook-types). The unsigned metadata are not read.",
		},
	}
}
