package payment

import (
	"net/http"
	"slices"
	"strings"
)

// keptHeaders returns the headers that are stored with an event: the headers that a person needs to understand a delivery and to
// check its signature again. Credentials that a sender repeats unchanged (Authorization, cookies, tokens) are never among them.
func keptHeaders(h http.Header) map[string]string {
	kept := make(map[string]string)
	for name, values := range h {
		if isEvidence(name) {
			kept[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\ufffd")
		}
	}
	return kept
}

// isEvidence recognizes signatures, in any case, by how providers name them, so that a new one needs no line here, and anything else
// only by its whole name: another may carry a password.
func isEvidence(name string) bool {
	is := func(text string) bool { return strings.EqualFold(name, text) }
	endsWith := func(text string) bool {
		return len(name) >= len(text) && strings.EqualFold(name[len(name)-len(text):], text)
	}
	return slices.ContainsFunc(evidence, is) || endsWith("signature") || endsWith("hmac")
}

var evidence = []string{ //nolint:gochecknoglobals // a table
	"content-type", "user-agent", "protocol", "cko-version",
	"webhook-id", "webhook-timestamp", "svix-id", "svix-timestamp", "x-razorpay-event-id", "x-event-name",
	"paypal-transmission-id", "paypal-transmission-time", "paypal-transmission-sig", "paypal-cert-url", "paypal-auth-algo",
}
