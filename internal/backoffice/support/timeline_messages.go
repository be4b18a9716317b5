package support

import (
	"slices"
	"strconv"
	"strings"
)

// message returns the timeline entry for an update, and where it was delivered.
func message(n OutboxMessage) Entry {
	what := sentence(updates, n.Type, "that the payment changed")
	detail := map[string]any{"message_id": n.ID.String(), "type": n.Type, "version": n.Version}
	sentences := []string{"paylatch queued a notification for the shop " + what + "."}
	for _, d := range n.Deliveries {
		sentences = append(sentences, d.Sentence())
	}
	return Entry{n.CreatedAt, EntryMessage, ourselves, strings.Join(sentences, " "), detail}
}

// Sentence returns how the delivery stands.
func (d Delivery) Sentence() string {
	failed := "failed"
	if d.Tries > 1 {
		failed += " " + strconv.Itoa(d.Tries) + " times"
	}
	switch {
	case d.DeliveredAt != nil:
		return "It was delivered to the endpoint " + d.Endpoint + " on " + clock(*d.DeliveredAt) + "."
	case d.State == DeliveryDead:
		return "The delivery to the endpoint " + d.Endpoint + " " + failed + " and is not tried again."
	case d.Gone:
		return "It is not delivered to the endpoint " + d.Endpoint + ", which answered that it is gone."
	case d.State == DeliveryWaiting && d.Tries > 0:
		return "The delivery to the endpoint " + d.Endpoint + " " + failed + " and is tried again."
	}
	return "It waits to be delivered to the endpoint " + d.Endpoint + "."
}

// expected returns the past deliveries, and the future deliveries to configured endpoints that take the event's type.
func (s *Service) expected(n OutboxMessage) []Delivery {
	return slices.DeleteFunc(slices.Clone(n.Deliveries), func(d Delivery) bool {
		types, configured := s.endpoints[d.Endpoint]
		switch {
		case d.DeliveredAt != nil, d.State == DeliveryDead:
			return false
		case d.State == DeliveryWaiting:
			return !configured
		}
		return d.State == DeliveryOver || !configured || len(types) > 0 && !slices.Contains(types, n.Type)
	})
}

var updates = map[string]string{ //nolint:gochecknoglobals // a table
	"payment_attempt.succeeded":  "that the payment succeeded",
	"payment_attempt.failed":     "that the payment failed",
	"payment_attempt.authorized": "that the money is held",
	"payment_attempt.updated":    "that amounts or the review of the payment changed",
	"payment_method.updated":     "that the stored payment method changed",
	"payment_method.removed":     "that the stored payment method was removed",
	"refund.succeeded":           "that a refund was made",
	"refund.failed":              "that a refund failed",
	"dispute.opened":             "that the payment is disputed",
	"dispute.updated":            "that a dispute changed",
	"dispute.won":                "that a dispute was won",
	"dispute.lost":               "that a dispute was lost",
}
