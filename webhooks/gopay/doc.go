// Package gopay reads notifications of GoPay. A notification is a GET of the notification URL with ?id=<payment id>,
// and has no signature (https://help.gopay.com/en/s/3, "State of the payment").
package gopay

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "GoPay",
		Header:       "none: the payment is looked up",
		EventID:      "derived, one for each arrival: the payment's id, time; the looked-up state is deduplicated",
		Ack:          "exactly 200",
		RetryHorizon: "at most 20 tries at undocumented times",
		Methods:      "none: a stored card is a payment",
		Reviews:      "none",
		Unsigned:     true,
		Quirks: []string{
			"The notification is a GET with the payment's id in the query.",
			"There is no notification for the states CREATED and PAYMENT_METHOD_CHOSEN.",
		},
		Setup: []string{
			"Ask GoPay for the client id and secret of the shop, and its GoID.",
			"Put them into client_id, client_secret and goid.",
			"Put the address of the account's endpoint into public_url. For payments that are begun outside paylatch, put it into each payment's callback.notification_url.",
			"Allow GET requests with a query to that address.",
			"If your contract lists GoPay's addresses, put them into allowed_ips.",
		},
		Reference: webhooks.ReferenceForm{
			MetadataKey: "payment_attempt_id",
			Doc:         "Add it to the query of callback.notification_url (…?payment_attempt_id=…), and put it into additional_params under the same name, or into order_number; or report the id that GoPay returns. A notification has only this query and GoPay's id (https://help.gopay.com/en/s/3), and proves nothing. paylatch looks up the payment, and the payment itself must have the attempt's id.",
		},
	}
}
