package api

import (
	"net/http"
	"slices"
	"strings"
)

// keptHeaders are the headers that are stored with an event: what a person needs
// to understand a delivery and to check its signature again. Credentials that a
// sender repeats unchanged (Authorization, cookies, tokens) are never among them.
func keptHeaders(h http.Header) map[string]string {
	kept := make(map[string]string)
	for name, values := range h {
		if lower := strings.ToLower(name); isEvidence(lower) {
			kept[lower] = strings.ToValidUTF8(strings.Join(values, ", "), "\ufffd")
		}
	}
	return kept
}

// isEvidence goes by how providers name such headers, so that a new one needs no
// line here.
func isEvidence(name string) bool {
	if name == "content-type" || name == "user-agent" || name == "protocol" {
		return true
	}
	carries := func(part string) bool { return strings.Contains(name, part) }
	return slices.ContainsFunc([]string{"signature", "hmac", "webhook-", "svix-", "paypal-", "event-id", "event-name", "cko-version"}, carries) &&
		!slices.ContainsFunc([]string{"authorization", "cookie", "token", "secret", "api-key"}, carries)
}
