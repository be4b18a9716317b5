// Package paypal verifies webhooks of PayPal (https://developer.paypal.com/api/rest/webhooks/rest/, "Self verification
// method"): RSA with SHA-256 over the transmission's id and time, the webhook's id and the CRC-32 of the raw body, by
// the key of the certificate that the header PAYPAL-CERT-URL names. It can't sign, because only PayPal has the key.
package paypal

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider to those that set it up.
func About() webhooks.About {
	return webhooks.About{
		Name:         "PayPal",
		Header:       "PAYPAL-TRANSMISSION-SIG (base64 RSA-SHA256 over id, time, webhook id and CRC-32 of the body), by the certificate at PAYPAL-CERT-URL",
		EventID:      "native: id (WH-…)",
		Ack:          "any 2xx",
		RetryHorizon: "up to 25 times over 3 days",
		Keys:         []webhooks.Key{{Name: "webhook_id", Doc: "PayPal's id of the webhook"}, {Name: "cert_roots", Optional: true, Doc: "a PEM file, in place of the system's roots"}},
		Quirks: []string{
			"The webhook's id is signed but not sent: it must be configured.",
			"The body is covered by a CRC-32 only: each transmission id is taken once, four days of age are the limit (tolerance), and what an event says is asked for at the API before it counts. Of disputes and reversals, which the API does not tell with the payment, only the payment is asked for.",
			"The certificate is fetched, from paypal.com only; if its issuer is not sent with it, put that one into cert_roots.",
			"An order is a container. A payment is a capture, or, with the intent AUTHORIZE, an authorization with what is captured of it; refunds, reversals and disputes name the capture alone, and the lookup finds its payment.",
			"The buyer's browser may make an order with the public client id, and choose its custom_id, its invoice_id and its payee (https://developer.paypal.com/sdk/js/reference/): the attempt's id in it is a claim, and merchant_id says who was paid.",
			"CHECKOUT.ORDER.APPROVED is not a payment: the order must be captured.",
			"Of a refund the capture is only named by the link \"up\".",
			"Events of the webhook simulator can't be verified.",
		},
		Setup: [5]string{
			"Developer dashboard, Apps & Credentials, the app, Webhooks: add the address of the account's endpoint (https, port 443).",
			"Choose Checkout order and payment approval, Payment authorization, Payment capture, Payment refund and Customer dispute events.",
			"Copy the webhook's id into webhook_id of the account.",
			"Send the payment attempt's id as custom_id of the purchase unit.",
			"Make a payment in the sandbox: the simulator's events are refused.",
		},
		Reference: webhooks.ReferenceForm{
			Field: "custom_id",
			Doc:   "Put it into custom_id of the order's purchase unit; the authorization and the capture get it from there (https://developer.paypal.com/docs/api/orders/v2/#orders_create).",
		},
	}
}
