// Package yookassa reads notifications of YooKassa. They are not signed
// (https://yookassa.ru/developers/using-api/webhooks). The only proof is the sender's address. Only the object that is
// read back from YooKassa counts, so each event about a payment or a refund has NeedsFetch set. The body's fields are
// still kept, for people.
package yookassa

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "YooKassa",
		Header:       "only the sender's address; paylatch looks up the object",
		EventID:      "derived, one for each arrival; the looked-up state is deduplicated",
		Ack:          "exactly 200",
		RetryHorizon: "for 24 hours",
		Methods:      "`payment_method.active` is ignored, because the payment itself reports a stored method",
		Reviews:      "none",
		Unsigned:     true,
		Quirks: []string{
			"YooKassa sends no event for a failed refund; a lookup finds it.",
			"An invoice (in-…) is a container.",
			"payment.canceled covers declined, expired and cancelled; cancellation_details has the cause.",
		},
		Setup: []string{
			"Merchant profile, Integration, HTTP notifications: set the address of the account's endpoint (https, port 443 or 8443).",
			"Choose payment.waiting_for_capture, payment.succeeded, payment.canceled and refund.succeeded.",
			"Put shop_id and api_key into the account: without them nothing can be looked up.",
			"Configure trusted_proxies, because paylatch must see the sender's real address.",
			"Make a payment in the test shop and look for its event.",
		},
		Reference: webhooks.ReferenceForm{
			MetadataKey: "payment_attempt_id",
			Doc:         "Put it into metadata of the payment (https://yookassa.ru/developers/api#create_payment). paylatch finds a refund by the payment's id, which it gets from the first notification.",
		},
	}
}
