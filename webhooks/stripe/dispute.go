package stripe

import (
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// disputeStatuses translates the statuses of a dispute (https://docs.stripe.com/api/disputes/object, "status"). An
// inquiry that is closed has cost nothing, and neither has a dispute that was prevented. One that the merchant accepts
// is lost.
var disputeStatuses = map[read.Word]webhooks.DisputeStatus{
	"warning_needs_response": webhooks.DisputeWarning,
	"warning_under_review":   webhooks.DisputeWarning,
	"warning_closed":         webhooks.DisputeWon,
	"needs_response":         webhooks.DisputeOpen,
	"under_review":           webhooks.DisputeUnderReview,
	"won":                    webhooks.DisputeWon,
	"lost":                   webhooks.DisputeLost,
	"prevented":              webhooks.DisputeWon,
}

// DisputeStatus returns the dispute's status for one of Stripe's, empty for an unfamiliar one.
func DisputeStatus(status string) webhooks.DisputeStatus { return disputeStatuses[read.Word(status)] }

func (o objectData) withDispute(e webhooks.Event) webhooks.Event {
	if o.Object != "dispute" {
		return e
	}
	return read.WithDispute(e, webhooks.Dispute{
		ID: o.ID, Status: disputeStatuses[o.Status], Reason: string(o.Reason), DueBy: read.Time(read.Members(o.Evidence)["due_by"]),
	})
}
