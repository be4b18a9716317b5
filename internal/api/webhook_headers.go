package api

import (
	"net/http"
	"strings"
)

// keptHeaders are the headers that are stored with an event: what a person needs
// to understand a delivery and to check its signature again. Credentials that a
// sender repeats unchanged (Authorization, cookies, tokens) are never among them.
func keptHeaders(h http.Header) map[string]string {
	kept := make(map[string]string)
	for _, name := range [...]string{
		"Content-Type", "User-Agent",
		// Standard Webhooks
		"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature",
		"Stripe-Signature",
		"Paypal-Transmission-Id", "Paypal-Transmission-Time", "Paypal-Transmission-Sig", "Paypal-Cert-Url", "Paypal-Auth-Algo",
		"X-Square-Hmacsha256-Signature",
		"X-Razorpay-Signature", "X-Razorpay-Event-Id",
		"Cko-Signature", "Cko-Version",
		"Paddle-Signature",
		"X-Mollie-Signature",
		"Content-Hmac", "X-Content-Hmac",
		"X-Signature", "X-Event-Name",
		"Hmacsignature", "Protocol",
	} {
		if values := h.Values(name); len(values) > 0 {
			kept[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\ufffd")
		}
	}
	return kept
}
