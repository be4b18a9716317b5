package webhooks

import (
	"encoding/json"
	"fmt"
)

// gocardlessEvent is one item of a batch
// (https://developer.gocardless.com/api-reference/#core-endpoints-events).
type gocardlessEvent struct {
	ID           string          `json:"id"`
	CreatedAt    json.RawMessage `json:"created_at"`
	ResourceType string          `json:"resource_type"`
	Action       string          `json:"action"`
	Links        struct {
		Payment string `json:"payment"`
		Refund  string `json:"refund"`
	} `json:"links"`
	Details struct {
		Cause            string `json:"cause"`
		WillAttemptRetry bool   `json:"will_attempt_retry"`
	} `json:"details"`
	ResourceMetadata json.RawMessage `json:"resource_metadata"`
}

func parseGoCardless(body []byte) ([]Event, error) {
	var batch struct {
		Events []gocardlessEvent `json:"events"`
	}
	if err := decode("batch", body, &batch); err != nil {
		return nil, err
	}
	if len(batch.Events) == 0 {
		return nil, fmt.Errorf("%w: batch without events", ErrPayload)
	}
	events := make([]Event, len(batch.Events))
	for i, item := range batch.Events {
		event, err := item.event()
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", i, err)
		}
		events[i] = event
	}
	return events, nil
}

func (g gocardlessEvent) event() (Event, error) {
	if g.ID == "" || g.ResourceType == "" || g.Action == "" {
		return Event{}, fmt.Errorf("%w: no id, resource_type or action", ErrPayload)
	}
	e := Event{
		ID: g.ID, IDSource: Native, Type: g.ResourceType + "." + g.Action, Kind: KindIgnored,
		OccurredAt: jsonTime(g.CreatedAt),
	}
	switch g.ResourceType {
	case "payments":
		e.Kind = g.paymentKind()
	case "refunds":
		e.Kind = g.refundKind()
	}
	if e.Kind == KindIgnored {
		return e, nil
	}
	if g.Links.Payment == "" && g.Links.Refund == "" {
		return Event{}, fmt.Errorf("%w: %s names nothing", ErrPayload, e.Type)
	}
	return g.fill(e), nil
}

// fill adds to an event what it names.
func (g gocardlessEvent) fill(e Event) Event {
	said := textMembers(g.ResourceMetadata)
	e.NeedsFetch = true
	e.ProviderPaymentID = g.Links.Payment
	e.References = references(said["payment_attempt_id"], g.Links.Payment)
	if g.ResourceType == "refunds" {
		e.RefundID, e.RefundReference = g.Links.Refund, said["refund_id"]
	}
	if e.Kind.failed() {
		e.FailureCode, e.ProviderCode = g.failure(), g.Details.Cause
	}
	return e
}

// paymentKind reads the actions on a payment. chargeback_settled is about the payout:
// the chargeback that it speaks of was told of before.
func (g gocardlessEvent) paymentKind() Kind {
	switch g.Action {
	case "created", "customer_approval_granted", "submitted", "resubmission_requested":
		return KindProcessing
	case "confirmed", "paid_out":
		return KindSucceeded
	case "failed":
		if g.Details.WillAttemptRetry {
			return KindSoftFailed
		}
		return KindFailed
	case "cancelled", "customer_approval_denied":
		return KindFailed
	case "charged_back", "chargeback_settled":
		return KindChargeback
	case "chargeback_cancelled":
		return KindChargebackReversed
	case "late_failure_settled":
		return KindReversed
	default:
		return KindIgnored
	}
}

// refundKind reads the actions on a refund. refund_settled is about the merchant's
// payout: when it comes the customer may not have the money yet.
func (g gocardlessEvent) refundKind() Kind {
	switch g.Action {
	case "created", "submitted", "refund_settled":
		return KindRefundPending
	case "paid":
		return KindRefundSucceeded
	case "failed", "bounced", "cancelled", "funds_returned":
		return KindRefundFailed
	default:
		return KindIgnored
	}
}

func (g gocardlessEvent) failure() string {
	switch {
	case g.Action == "cancelled", g.Action == "customer_approval_denied":
		return codeCanceled
	case g.Details.Cause == "insufficient_funds":
		return codeInsufficientFunds
	default:
		return codeProviderRejected
	}
}
