package gocardless

import (
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// rawEvent is one item of a batch (https://developer.gocardless.com/api-reference/#core-endpoints-events).
type rawEvent struct {
	ID           read.Note       `json:"id"`
	CreatedAt    json.RawMessage `json:"created_at"`
	ResourceType read.Note       `json:"resource_type"`
	Action       read.Note       `json:"action"`
	Links        read.Optional[struct {
		Payment        read.Note `json:"payment"`
		Refund         read.Note `json:"refund"`
		BillingRequest read.Note `json:"billing_request"`
		// RequestPayment is the payment that a billing request has made.
		RequestPayment read.Note `json:"payment_request_payment"`
		Organisation   read.Note `json:"organisation"`
		Mandate        read.Note `json:"mandate"`
	}] `json:"links"`
	Details read.Optional[struct {
		Cause            read.Note `json:"cause"`
		WillAttemptRetry bool      `json:"will_attempt_retry"`
	}] `json:"details"`
	ResourceMetadata json.RawMessage `json:"resource_metadata"`
}

func parse(body []byte) []webhooks.Event {
	var batch struct {
		Events []json.RawMessage `json:"events"`
	}
	err := read.JSON("batch", body, &batch)
	if err == nil && len(batch.Events) == 0 {
		err = fmt.Errorf("%w: batch without events", webhooks.ErrPayload)
	}
	if err == nil && len(batch.Events) > read.MaxEvents {
		err = fmt.Errorf("%w: batch of more than %d events", webhooks.ErrPayload, read.MaxEvents)
	}
	if err != nil {
		return read.One(body, webhooks.Event{}, err)
	}
	events := make([]webhooks.Event, len(batch.Events))
	for i, raw := range batch.Events {
		event, err := parseEvent(raw)
		events[i] = read.Event(raw, event, err)
	}
	return events
}

func parseEvent(raw []byte) (webhooks.Event, error) {
	var item rawEvent
	if err := read.JSON("event", raw, &item); err != nil {
		return webhooks.Event{}, err
	}
	return item.event()
}

func (g rawEvent) event() (webhooks.Event, error) {
	e := webhooks.Event{
		ID: string(g.ID), IDSource: webhooks.Native, Type: string(g.ResourceType + "." + g.Action), Kind: webhooks.KindIgnored,
		OccurredAt: read.Time(g.CreatedAt),
	}
	if g.ID == "" || g.ResourceType == "" || g.Action == "" {
		return e, fmt.Errorf("%w: no id, resource_type or action", webhooks.ErrPayload)
	}
	switch g.ResourceType {
	case "payments":
		e.Kind = g.paymentKind()
	case "refunds":
		e.Kind = g.refundKind()
	case requests:
		e.Kind = g.requestKind()
	case "mandates":
		return g.withMandate(e)
	}
	if e.Kind == webhooks.KindIgnored {
		return e, nil
	}
	if links := g.Links.Value; links.Payment == "" && links.Refund == "" && links.BillingRequest == "" {
		return e, fmt.Errorf("%w: %s names nothing", webhooks.ErrPayload, e.Type)
	}
	return g.fill(e), nil
}

// fill adds the named resources to an event. A billing request is a container. Its payment is the event's payment.
func (g rawEvent) fill(e webhooks.Event) webhooks.Event {
	said, links := read.TextMembers(g.ResourceMetadata), g.Links.Value
	e.NeedsFetch = true
	e.ProviderPaymentID, e.Container, e.Payee = string(links.Payment), string(links.BillingRequest), string(links.Organisation)
	if g.Action == "charged_back" || g.Action == "chargeback_cancelled" {
		e.MovementID = e.ProviderPaymentID // a payment may be charged back again
	}
	switch g.ResourceType {
	case "refunds":
		e.RefundID, e.RefundReference = string(links.Refund), said["refund_id"]
	case requests:
		e.ProviderPaymentID = string(links.RequestPayment)
	}
	e.References = read.References(said["payment_attempt_id"], e.ProviderPaymentID, e.Container)
	if e.Kind.IsFailure() {
		e.FailureCode, e.ProviderCode = g.failure(), string(g.Details.Value.Cause)
	}
	return e
}

// withMandate reads the actions on a mandate that was in use
// (https://developer.gocardless.com/api-reference/#event-types-mandate). Those on the way to its first use say nothing of it: a mandate
// that a payment stored comes with the payment. A replaced one has gone; the new one is another.
func (g rawEvent) withMandate(e webhooks.Event) (webhooks.Event, error) {
	var restored bool
	switch g.Action {
	case "cancelled", "failed", "expired", "replaced", "consumed", "blocked", "suspended_by_payer":
		e.Kind = webhooks.KindMethodRemoved
	case "reinstated", "resumed":
		e.Kind, restored = webhooks.KindMethodUpdated, true
	case "transferred": // to another account of the customer
		e.Kind = webhooks.KindMethodUpdated
	default:
		return e, nil
	}
	token := string(g.Links.Value.Mandate)
	if token == "" {
		return e, fmt.Errorf("%w: %s names no mandate", webhooks.ErrPayload, e.Type)
	}
	e.Payee, e.Method = string(g.Links.Value.Organisation), &webhooks.Method{Tokens: []string{token}, Restored: restored}
	return e, nil
}

// requests is the resource type of a billing request, which becomes a payment once the customer has authorised it.
const requests = "billing_requests"

// requestKind reads the actions on a billing request: the one by which it has made a payment, and its end without one
// (https://developer.gocardless.com/billing-requests/responding-to-billing-request-events). Events of the payment follow.
func (g rawEvent) requestKind() webhooks.Kind {
	switch links := g.Links.Value; {
	case links.BillingRequest == "":
		return webhooks.KindIgnored
	case g.Action == "fulfilled" && links.RequestPayment != "":
		return webhooks.KindProcessing
	case g.Action == "cancelled" && links.RequestPayment == "":
		return webhooks.KindFailed
	}
	return webhooks.KindIgnored
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
		if g.Details.Value.WillAttemptRetry {
			return webhooks.KindSoftFailed
		}
		return webhooks.KindUndone
	case "late_failure_settled": // the debit may have been collected again since
		return webhooks.KindUndone
	case "cancelled", "customer_approval_denied":
		return webhooks.KindFailed
	case "charged_back", "chargeback_settled":
		return webhooks.KindChargeback
	case "chargeback_cancelled":
		return webhooks.KindChargebackReversed
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

func (g rawEvent) failure() webhooks.FailureCode {
	switch {
	case g.Action == "cancelled", g.Action == "customer_approval_denied":
		return webhooks.CodeCanceled
	case g.Details.Value.Cause == "insufficient_funds":
		return webhooks.CodeInsufficientFunds
	default:
		return webhooks.CodeProviderRejected
	}
}
