package razorpay

import (
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// disputeStatuses translates the names of events (https://razorpay.com/docs/webhooks/payloads/disputes/). In
// "action_required" the action is new evidence.
var disputeStatuses = map[string]webhooks.DisputeStatus{
	"payment.dispute.created":         webhooks.DisputeOpen,
	"payment.dispute.action_required": webhooks.DisputeOpen,
	"payment.dispute.under_review":    webhooks.DisputeUnderReview,
	"payment.dispute.won":             webhooks.DisputeWon,
	"payment.dispute.lost":            webhooks.DisputeLost,
	"payment.dispute.closed":          webhooks.DisputeWon,
}

// withDispute adds the dispute. In the phases fraud and retrieval it is an inquiry; that is from memory. A closed dispute
// was neither won nor lost if nothing was deducted. A dispute that has taken money is no inquiry.
func (r entityData) withDispute(e webhooks.Event) webhooks.Event {
	status := disputeStatuses[e.Type]
	switch {
	case e.Type == "payment.dispute.closed" && r.deducted():
		status = "" // a person must look
	case status.Open() && !r.deducted() && (r.Phase == "fraud" || r.Phase == "retrieval"):
		status = webhooks.DisputeWarning
	}
	disputed, _ := read.WithUnits(webhooks.Event{Kind: webhooks.KindDisputed}, r.Amount, r.Currency, nil)
	return read.WithDispute(e, webhooks.Dispute{
		ID: r.ID, Status: status, Reason: string(r.ReasonCode), Money: disputed.Money, DueBy: read.Time(r.RespondBy), Returns: e.Type == "payment.dispute.won",
	})
}
