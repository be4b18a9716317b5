package kit

import (
	"strings"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/gateway"
)

// Reason returns the reason of a refund followed by the refund's id, in at most this number of characters. It is for
// providers whose refunds have no field for our id.
func Reason(r gateway.RefundCall, most int) string {
	id := r.Refund.String()
	if r.Reason == "" {
		return id
	}
	return Short(r.Reason, most-len(id)-len(" ()")) + " (" + id + ")"
}

// Reference returns the refund's id at the end of a reason, or "" if the reason has no id of ours.
func Reference(reason string) string {
	reason = strings.TrimSuffix(reason, ")")
	id := reason[max(0, len(reason)-len(uuid.UUID{}.String())):]
	if _, err := uuid.Parse(id); err != nil {
		return ""
	}
	return id
}
