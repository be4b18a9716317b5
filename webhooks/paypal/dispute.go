package paypal

import (
	"encoding/json"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// dispute holds the fields read from a dispute (https://developer.paypal.com/docs/api/customer-disputes/v1/).
type dispute struct {
	DisputeID            string     `json:"dispute_id"`
	DisputeAmount        amountData `json:"dispute_amount"`
	DisputedTransactions read.Optional[[]struct {
		SellerTransactionID string               `json:"seller_transaction_id"`
		Status              read.Word            `json:"transaction_status"`
		InvoiceNumber       read.Note            `json:"invoice_number"`
		Custom              read.Note            `json:"custom"`
		Seller              read.Optional[payee] `json:"seller"`
	}] `json:"disputed_transactions"`
	DisputeOutcome read.Optional[struct {
		OutcomeCode    read.Word  `json:"outcome_code"`
		AmountRefunded amountData `json:"amount_refunded"`
	}] `json:"dispute_outcome"`
	DisputeReason read.Note       `json:"reason"`
	DisputeStage  read.Note       `json:"dispute_life_cycle_stage"`
	ResponseDue   json.RawMessage `json:"seller_response_due_date"`
}

// disputed reads a dispute. Until it is resolved, PayPal only holds the money. If it is resolved for the buyer, the money is
// gone. If the transaction is refunded since, a refund took the money, and has its own report. If the dispute is resolved
// for the seller or withdrawn, money taken by an earlier decision is back. Any other outcome needs review by a person.
func (r object) disputed() (webhooks.Kind, amountData) {
	if r.Status != "RESOLVED" {
		return webhooks.KindDisputed, r.DisputeAmount
	}
	refunded := r.DisputeOutcome.Value.AmountRefunded
	switch {
	case r.disputeStatus() == webhooks.DisputeLost && r.refundedByMerchant():
		return webhooks.KindDisputed, r.DisputeAmount
	case r.disputeStatus() == webhooks.DisputeLost && refunded != nil:
		return webhooks.KindChargeback, refunded
	case r.disputeStatus() == webhooks.DisputeLost:
		return webhooks.KindChargeback, r.DisputeAmount
	}
	return webhooks.KindDisputed, r.DisputeAmount
}

// refundedByMerchant reports whether the buyer has the money by a refund: "the amount that either the merchant or PayPal
// refunds the customer" is then the refund's
// (https://developer.paypal.com/docs/api/customer-disputes/v1/#definition-transaction_info, "transaction_status").
func (r object) refundedByMerchant() bool {
	all := r.DisputedTransactions.Value
	return len(all) > 0 && (all[0].Status == "REFUNDED" || all[0].Status == "PARTIALLY_REFUNDED")
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
		Returns: r.disputeStatus() == webhooks.DisputeWon,
	})
}
