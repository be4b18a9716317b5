// Package adyen verifies and makes webhooks of Adyen
// (https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures): standard webhooks,
// where each item of the body carries its own signature in additionalData.hmacSignature, and newer ones (tokens,
// platforms), where the header hmacSignature signs the whole body.
//
// A signature of an item covers eight fields: pspReference, originalReference, merchantAccountCode, merchantReference,
// the amount's value and currency, eventCode and success. No other field may decide about money. The time, the reason and
// the test flag are read although they are not signed, since they don't decide about money.
package adyen

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider to those that set it up.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Adyen",
		Header:       "additionalData.hmacSignature of each item (base64 HMAC-SHA256 over eight fields); newer webhooks: hmacSignature (base64 HMAC-SHA256 over the body); basic authentication besides, if configured",
		EventID:      "derived: pspReference, eventCode, success; newer webhooks: native: eventId",
		Ack:          "any 2xx within 10 s; sent: 200 [accepted]",
		RetryHorizon: "3 times at once, then after 2, 5, 10, 15, 30 min, 1, 2, 4, 8 h …, up to 30 days; a failing endpoint holds up all that follows",
		Keys: []webhooks.Key{
			webhooks.SecretsKey(),
			{Name: "basic_auth.user", Optional: true, Doc: "as set at the provider"},
			{Name: "basic_auth.password", Optional: true, Secret: true, Doc: "as set at the provider"},
			{Name: "capture", Optional: true, OneOf: []string{"manual", "automatic"}, Doc: "Adyen: automatic if the merchant account captures at once"},
		},
		Quirks: []string{
			"A body may carry several items. If one item is forged, all are refused.",
			"Each AUTHORISATION is a payment with its own pspReference. Later events name it by originalReference. A customer who tries two cards on one page makes two payments; a refused one is over.",
			"OFFER_CLOSED ends the offer with its pspReference, and no payment.",
			"merchantAccountCode is signed and names the payee. The merchantReference is written with an API key only (/sessions, /payments, /paymentLinks).",
			"The time, the reason, the metadata and the mode are unsigned: they never decide.",
			"Amounts of CLP and ISK have two digits, amounts of CVE and IDR none.",
			"CAPTURE with success means that the request was accepted. CAPTURE_FAILED may follow and takes the money back.",
			"CAPTURE without success leaves the money on hold; the payment has not failed.",
			"CANCEL_OR_REFUND does not sign which of the two it was: a person must look.",
			"CANCELLATION without success follows a received cancellation and does not change the payment.",
			"Adyen often repeats a failed capture itself: CAPTURE (Transaction Recaptured) changes no amount here.",
			"CHARGEBACK and SECOND_CHARGEBACK take the money; CHARGEBACK_REVERSED and PREARBITRATION_WON return it. DISPUTE_DEFENSE_PERIOD_ENDED names no dispute stage.",
			"The stage of a dispute (disputeStatus), its reason and its date are unsigned: they only narrow the meaning of the event code.",
			"Events after a CHARGEBACK name their payment by originalReference only if that is switched on (webhook, Risk). Otherwise they name the dispute, whose CHARGEBACK must have arrived.",
			"An account that captures at once sends no CAPTURE: set capture to automatic, or ask for manual capture.",
			"No call reads a payment: the webhook is the only source.",
		},
		Setup: []string{
			"Customer Area, Developers, Webhooks: create a standard webhook with the address of the account's endpoint; switch on OFFER_CLOSED and EXPIRE, which may be off.",
			"In the same webhook, Additional settings, Risk: switch on that dispute events include the originalReference. Without it a reversal, a second chargeback and a pre-arbitration name no payment.",
			"Generate its HMAC key (hexadecimal) and put it into webhook_secrets.",
			"Optionally set a user name and password there, and the same as basic_auth of the account.",
			"Send a test of AUTHORISATION from the same page: it must be shown as accepted.",
		},
		Reference: webhooks.ReferenceForm{
			Field: "reference",
			Doc:   "Put it into reference of /payments, /sessions or /paymentLinks; webhooks carry it as merchantReference. The metadata are unsigned and are not read (https://docs.adyen.com/development-resources/webhooks/webhook-types).",
		},
	}
}
