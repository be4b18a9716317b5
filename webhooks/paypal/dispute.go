package paypal

import (
	"encoding/json"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// dispute holds what is read of a dispute (https://developer.paypal.com/docs/api/customer-disputes/v1/).
type dispute struct {
	DisputeID            string     `json:"dispute_id"`
	DisputeAmount        amountData `json:"dispute_amount"`
	DisputedTransactions read.Optional[[]struct {
		SellerTransactionID string    `json:"seller_transaction_id"`
		InvoiceNumber       read.Note `json:"invoice_number"`
		Custom              read.Note `json:"custom"`
	}] `json:"disputed_transactions"`
	DisputeOutcome read.Optional[struct {
		OutcomeCode    read.Word  `json:"outcome_code"`
		AmountRefunded amountData `json:"amount_refunded"`
	}] `json:"dispute_outcome"`
	DisputeReason read.Note       `json:"reason"`
	DisputeStage  read.Note       `json:"dispute_life_cycle_stage"`
	ResponseDue   json.RawMessage `json:"seller_response_due_date"`
}

// disputed reads a dispute. Until it is resolved the money is only on hold. Resolved for the buyer, it is gone; for the
// seller, or withdrawn, nothing is at stake any more. Any other outcome a person must look at.
func (r object) disputed() (webhooks.Kind, amountData) {
	if r.Status != "RESOLVED" {
		return webhooks.KindDisputed, r.DisputeAmount
	}
	refunded := r.DisputeOutcome.Value.AmountRefunded
	switch {
	case r.disputeStatus() == webhooks.DisputeLost && refunded != nil:
		return webhooks.KindChargeback, refunded
	case r.disputeStatus() == webhooks.DisputeLost:
		return webhooks.KindChargeback, r.DisputeAmount
	}
	return webhooks.KindDisputed, r.DisputeAmount
}

// outcomes translates how a dispute was resolved
// (https://developer.paypal.com/docs/api/customer-disputes/v1/#definition-dispute_outcome).
var outcomes = map[read.Word]webhooks.DisputeStatus{
	"RESOLVED_BUYER_FAVOUR":  webhooks.DisputeLost,
	"RESOLVED_SELLER_FAVOUR": webhooks.DisputeWon,
	"CANCELED_BY_BUYER":      webhooks.DisputeWon,
	"DENIED":                 webhooks.DisputeWon,
	"NONE":                   webhooks.DisputeWon,
}

// disputeStatus is how the dispute stands, empty for an outcome or a status of another name. At the stage of an
// inquiry no money is at stake yet.
func (r object) disputeStatus() webhooks.DisputeStatus {
	switch {
	case r.Status == "RESOLVED":
		return outcomes[r.DisputeOutcome.Value.OutcomeCode]
	case r.DisputeStage == "INQUIRY":
		return webhooks.DisputeWarning
	case r.Status == "UNDER_REVIEW", r.Status == "WAITING_FOR_BUYER_RESPONSE":
		return webhooks.DisputeUnderReview
	case r.Status == "OPEN", r.Status == "WAITING_FOR_SELLER_RESPONSE":
		return webhooks.DisputeOpen
	}
	return ""
}

func (r object) withDispute(e webhooks.Event) webhooks.Event {
	disputed, _ := r.DisputeAmount.money()
	return read.WithDispute(e, webhooks.Dispute{
		ID: r.DisputeID, Status: r.disputeStatus(), Reason: string(r.DisputeReason), Money: disputed, DueBy: read.Time(r.ResponseDue),
	})
}
