// Package paypal verifies webhooks of PayPal. The signature is RSA with SHA-256 over the transmission's id and time,
// the webhook's id and the CRC-32 of the raw body, by the key of the certificate that the header PAYPAL-CERT-URL names
// (https://developer.paypal.com/api/rest/webhooks/rest/, "Self verification method"). The package can't sign, because
// only PayPal has the key.
package paypal

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "PayPal",
		Header:       "PAYPAL-TRANSMISSION-SIG (RSA-SHA256 over id, time, webhook id and CRC-32 of the body), by the certificate at PAYPAL-CERT-URL",
		EventID:      "native: id (WH-…)",
		Ack:          "any 2xx",
		RetryHorizon: "up to 25 times over 3 days",
		Methods:      "`VAULT.PAYMENT-TOKEN.DELETED`, once a lookup shows that the method is gone. `VAULT.PAYMENT-TOKEN.CREATED` is ignored, because the payment itself reports a stored method.",
		Reviews:      "a payment that is pending with `PENDING_REVIEW`; the review ends when the payment is no longer pending",
		Keys:         []webhooks.Key{{Name: "webhook_id", Doc: "PayPal's id of the webhook"}, {Name: "cert_roots", Optional: true, Doc: "a PEM file, in place of the system's roots"}},
		Quirks: []string{
			"The signature covers a CRC-32 of the body. Therefore each transmission id counts once, the age limit is four days (tolerance), and paylatch looks up events before it applies them. For disputes and reversals it looks up only the payment.",
			"The certificate is fetched from paypal.com only. If PayPal does not send its issuer, put the issuer into cert_roots.",
			"An order is a container. A payment is a capture, or, with the intent AUTHORIZE, an authorization with its captures.",
			"CHECKOUT.ORDER.APPROVED is not a payment: the order must be captured.",
		},
		Setup: []string{
			"Developer dashboard, Apps & Credentials, the app, Webhooks: add the address of the account's endpoint (https, port 443).",
			"Choose Checkout order and payment approval, Payment authorization, Payment capture, Payment refund and Customer dispute events.",
			"Copy the webhook's id into webhook_id: PayPal signs the id but does not send it.",
			"Make a payment in the sandbox. The webhook simulator's events can't be verified and are refused.",
		},
		Reference: webhooks.ReferenceForm{
			Field: "custom_id",
			Doc:   "Put it into custom_id of the order's purchase unit (https://developer.paypal.com/docs/api/orders/v2/#orders_create).",
		},
	}
}
