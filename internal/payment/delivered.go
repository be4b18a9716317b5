package payment

import (
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/webhooks"
)

// DeliveredEvents returns the stored form of a verified delivery, for each of its events: the body, or the query of a scheme without a
// body, and the headers that serve as evidence. It removes a secret in the body.
func DeliveredEvents(account string, by webhooks.Verifier, d webhooks.Delivery, events []webhooks.Event) []ReceivedEvent {
	raw := d.Body
	if redactor, ok := by.(webhooks.Redactor); ok {
		raw = redactor.Redacted(d)
	}
	if len(raw) == 0 {
		if u, err := url.Parse(d.URL); err == nil {
			raw = []byte(u.RawQuery)
		}
	}
	headers := keptHeaders(d.Header)
	list := make([]ReceivedEvent, len(events))
	for i, e := range events {
		list[i] = ReceivedEvent{Account: account, Event: e, Headers: headers, Body: raw, At: d.ReceivedAt}
	}
	return list
}

// WebhookAddress is an endpoint's address as the provider has it; some providers sign it. It is below the public URL of the account or,
// if that is empty, the address in the request.
func WebhookAddress(publicURL, topic, requested string) string {
	if publicURL == "" {
		return requested
	}
	address := publicURL
	if topic != "" {
		address = strings.TrimSuffix(address, "/") + "/" + url.PathEscape(topic)
	}
	if _, query, _ := strings.Cut(requested, "?"); query != "" {
		address += "?" + query
	}
	return address
}

// How an event was taken in if not as a delivery that was genuine when it came. It is stored as [TakenHeader] of the event.
const (
	// TakenHeader is a name that no stored header of a delivery has, since such a header is not kept.
	TakenHeader = "paylatch-taken"
	// TakenListed events were read from the provider's own list.
	TakenListed = "backfill"
	// TakenLater events came with a signature that no secret had made that was configured then, and one has that was
	// configured later.
	TakenLater = "verified-again"
)
