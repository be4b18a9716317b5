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
			"The webhook's id is signed but not sent, so it must be configured.",
			"A CRC-32 covers the body. So each transmission id counts once, the limit on age is four days (tolerance), and events are looked up before they count. For disputes and reversals, which the API shows apart from the payment, only the payment is looked up.",
			"The certificate is fetched from paypal.com only. If PayPal does not send its issuer, put the issuer into cert_roots.",
			"An order is a container. A payment is a capture, or, with the intent AUTHORIZE, an authorization with its captures. Refunds, reversals and disputes name only the capture; the lookup finds its payment.",
			"The buyer's browser may make an order with the public client id and choose its custom_id, invoice_id and payee (https://developer.paypal.com/sdk/js/reference/). The attempt's id in it is a claim; merchant_id names the payee.",
			"CHECKOUT.ORDER.APPROVED is not a payment: the order must be captured.",
			"A refund names its capture only by the link \"up\".",
			"Events of the webhook simulator can't be verified.",
		},
		Setup: []string{
			"Developer dashboard, Apps & Credentials, the app, Webhooks: add the address of the account's endpoint (https, port 443).",
			"Choose Checkout order and payment approval, Payment authorization, Payment capture, Payment refund and Customer dispute events.",
			"Copy the webhook's id into webhook_id of the account.",
			"Make a payment in the sandbox: the simulator's events are refused.",
		},
		Reference: webhooks.ReferenceForm{
			Field: "custom_id",
			Doc:   "Put it into custom_id of the order's purchase unit; the authorization and the capture get it from there (https://developer.paypal.com/docs/api/orders/v2/#orders_create).",
		},
	}
}
