package gocardless

import (
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// rawEvent is one item of a batch (https://developer.gocardless.com/api-reference/#core-endpoints-events).
type rawEvent struct {
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

func parse(body []byte) ([]webhooks.Event, error) {
	var batch struct {
		Events []rawEvent `json:"events"`
	}
	if err := read.JSON("batch", body, &batch); err != nil {
		return nil, err
	}
	if len(batch.Events) == 0 {
		return nil, fmt.Errorf("%w: batch without events", webhooks.ErrPayload)
	}
	events := make([]webhooks.Event, len(batch.Events))
	for i, item := range batch.Events {
		event, err := item.event()
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", i, err)
		}
		events[i] = event
	}
	return events, nil
}

func (g rawEvent) event() (webhooks.Event, error) {
	if g.ID == "" || g.ResourceType == "" || g.Action == "" {
		return webhooks.Event{}, fmt.Errorf("%w: no id, resource_type or action", webhooks.ErrPayload)
	}
	e := webhooks.Event{
		ID: g.ID, IDSource: webhooks.Native, Type: g.ResourceType + "." + g.Action, Kind: webhooks.KindIgnored,
		OccurredAt: read.Time(g.CreatedAt),
	}
	switch g.ResourceType {
	case "payments":
		e.Kind = g.paymentKind()
	case "refunds":
		e.Kind = g.refundKind()
	}
	if e.Kind == webhooks.KindIgnored {
		return e, nil
	}
	if g.Links.Payment == "" && g.Links.Refund == "" {
		return webhooks.Event{}, fmt.Errorf("%w: %s names nothing", webhooks.ErrPayload, e.Type)
	}
	return g.fill(e), nil
}

// fill adds to an event what it names.
func (g rawEvent) fill(e webhooks.Event) webhooks.Event {
	said := read.TextMembers(g.ResourceMetadata)
	e.NeedsFetch = true
	e.ProviderPaymentID = g.Links.Payment
	e.References = read.References(said["payment_attempt_id"], g.Links.Payment)
	if g.ResourceType == "refunds" {
		e.RefundID, e.RefundReference = g.Links.Refund, said["refund_id"]
	}
	if e.Kind.IsFailure() {
		e.FailureCode, e.ProviderCode = g.failure(), g.Details.Cause
	}
	return e
}

// paymentKind reads the actions on a payment. chargeback_settled is about the payout: its chargeback was reported
// before.
func (g rawEvent) paymentKind() webhooks.Kind {
	switch g.Action {
	case "created", "customer_approval_granted", "submitted", "resubmission_requested":
		return webhooks.KindProcessing
	case "confirmed", "paid_out":
		return webhooks.KindSucceeded
	case "failed":
		if g.Details.WillAttemptRetry {
			return webhooks.KindSoftFailed
		}
		return webhooks.KindFailed
	case "cancelled", "customer_approval_denied":
		return webhooks.KindFailed
	case "charged_back", "chargeback_settled":
		return webhooks.KindChargeback
	case "chargeback_cancelled":
		return webhooks.KindChargebackReversed
	case "late_failure_settled":
		return webhooks.KindReversed
	default:
		return webhooks.KindIgnored
	}
}

// refundKind reads the actions on a refund. refund_settled is about the merchant's payout: when it comes the customer
// may not have the money yet.
func (g rawEvent) refundKind() webhooks.Kind {
	switch g.Action {
	case "created", "submitted", "refund_settled":
		return webhooks.KindRefundPending
	case "paid":
		return webhooks.KindRefundSucceeded
	case "failed", "bounced", "cancelled", "funds_returned":
		return webhooks.KindRefundFailed
	default:
		return webhooks.KindIgnored
	}
}

func (g rawEvent) failure() string {
	switch {
	case g.Action == "cancelled", g.Action == "customer_approval_denied":
		return webhooks.CodeCanceled
	case g.Details.Cause == "insufficient_funds":
		return webhooks.CodeInsufficientFunds
	default:
		return webhooks.CodeProviderRejected
	}
}
