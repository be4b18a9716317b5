package call

import (
	"strings"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/gateway"
)

// Reason returns the reason of a refund followed by the refund's id, of at most that many characters. It is for providers
// at which a refund has no field for an id of ours.
func Reason(r gateway.RefundCall, most int) string {
	id := r.Refund.String()
	if r.Reason == "" {
		return id
	}
	return Short(r.Reason, most-len(id)-len(" ()")) + " (" + id + ")"
}

// Reference is the refund's id that Reason ended with, empty if it is none of ours.
func Reference(reason string) string {
	reason = strings.TrimSuffix(reason, ")")
	id := reason[max(0, len(reason)-len(uuid.UUID{}.String())):]
	if _, err := uuid.Parse(id); err != nil {
		return ""
	}
	return id
}
