package standard

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// FailureCode returns paylatch's code and the provider's own to keep for the failure_code of a charge or a refund. A code
// that is not one of paylatch's becomes provider_rejected.
func FailureCode(code string) (ours webhooks.FailureCode, theirs string) {
	if known := webhooks.FailureCode(code); slices.Contains(webhooks.FailureCodes(), known) {
		return known, code
	}
	return webhooks.CodeProviderRejected, code
}

// eventData is the member "data" of the sandbox's events.
type eventData struct {
	ChargeID        string        `json:"charge_id"`
	ContainerID     read.Note     `json:"container_id"`
	Payee           read.Note     `json:"payee"`
	Test            read.Word     `json:"test"`
	RefundID        string        `json:"refund_id"`
	Reference       read.Note     `json:"reference"`
	RefundReference read.Note     `json:"refund_reference"`
	Amount          *read.Integer `json:"amount"`
	Currency        read.Word     `json:"currency"`
	FailureCode     read.Note     `json:"failure_code"`
	DisputeID       read.Note     `json:"dispute_id"`
	DisputeStatus   read.Note     `json:"dispute_status"`
	EntryID         read.Note     `json:"entry_id"`
	Reason          read.Note     `json:"reason"`
	DueBy           read.Note     `json:"due_by"`
}

// rawEvent is an event of the sandbox.
type rawEvent struct {
	Type    string          `json:"type"`
	Created json.RawMessage `json:"created"`
	Data    eventData       `json:"data"`
}

// parse reads a well-formed body in one pass. Nearly all bodies are well-formed.
func parse(body []byte) (webhooks.Event, error) {
	var e rawEvent
	if json.Unmarshal(body, &e) != nil {
		return parseParts(body)
	}
	event := webhooks.Event{Type: e.Type, Kind: kindOf(e.Type), OccurredAt: read.Time(e.Created)}
	if event.Kind == webhooks.KindIgnored {
		return event, nil
	}
	return e.Data.fill(event)
}

// parseParts reads a body that is not, or not wholly, a well-formed event. Members that the type does not need may have any
// form.
func parseParts(body []byte) (webhooks.Event, error) {
	envelope := read.Members(body)
	if envelope == nil && !json.Valid(body) {
		return webhooks.Event{}, fmt.Errorf("%w: not JSON", webhooks.ErrPayload)
	}
	event := webhooks.Event{Type: read.Text(envelope["type"]), OccurredAt: read.Time(envelope["created"])}
	event.Kind = kindOf(event.Type)
	if event.Kind == webhooks.KindIgnored {
		return event, nil
	}
	var data eventData
	if raw := envelope["data"]; raw != nil {
		if err := read.JSON("data of "+event.Type, raw, &data); err != nil {
			return event, err
		}
	}
	return data.fill(event)
}

// The ends of a container: of no charge in it.
const containerExpired, containerCanceled = "container.expired", "container.canceled"

func kindOf(eventType string) webhooks.Kind {
	switch eventType {
	case "charge.pending":
		return webhooks.KindProcessing
	case "charge.authorized":
		return webhooks.KindAuthorized
	case "charge.succeeded":
		return webhooks.KindSucceeded
	case "charge.failed", "charge.canceled", containerExpired, containerCanceled:
		return webhooks.KindFailed
	case "refund.pending":
		return webhooks.KindRefundPending
	case "refund.succeeded":
		return webhooks.KindRefundSucceeded
	case "refund.failed":
		return webhooks.KindRefundFailed
	case "dispute.warning", "dispute.opened", "dispute.updated", "dispute.won", "dispute.lost", "dispute.accepted":
		return webhooks.KindDisputed
	default:
		return webhooks.KindIgnored
	}
}

// fill adds the data's fields to an event.
func (d eventData) fill(e webhooks.Event) (webhooks.Event, error) {
	e.ProviderPaymentID, e.Container, e.Payee = d.ChargeID, string(d.ContainerID), string(d.Payee)
	if e.Type == containerExpired || e.Type == containerCanceled {
		e.ProviderPaymentID = ""
	}
	e.References = read.References(string(d.Reference), e.ProviderPaymentID, e.Container)
	e.Mode = read.ModeText(string(d.Test), "true", "false")
	e.RefundID, e.RefundReference = d.RefundID, string(d.RefundReference)
	if code := string(d.FailureCode); e.Kind.IsFailure() {
		e.FailureCode, e.ProviderCode = FailureCode(code)
	}
	switch e.Type {
	case "charge.canceled", containerCanceled:
		e.FailureCode = webhooks.CodeCanceled
	case containerExpired:
		e.FailureCode = webhooks.CodeExpired
	}
	if e.Kind == webhooks.KindDisputed {
		return d.fillDispute(e)
	}
	return read.WithUnits(e, d.Amount, d.Currency, nil)
}

// fillDispute adds to an event its dispute. One that names an entry of the ledger moves money.
func (d eventData) fillDispute(e webhooks.Event) (webhooks.Event, error) {
	status := webhooks.DisputeStatus(d.DisputeStatus)
	if d.EntryID != "" {
		e.Kind, e.MovementID = webhooks.KindChargeback, string(d.EntryID)
		if status == webhooks.DisputeWon {
			e.Kind = webhooks.KindChargebackReversed
		}
	}
	e, err := read.WithUnits(e, d.Amount, d.Currency, nil)
	if err != nil {
		return e, err
	}
	dispute := webhooks.Dispute{ID: string(d.DisputeID), Reason: string(d.Reason), DueBy: read.TimeIn(time.RFC3339, string(d.DueBy))}
	switch status {
	case webhooks.DisputeWarning, webhooks.DisputeOpen, webhooks.DisputeUnderReview, webhooks.DisputeWon, webhooks.DisputeLost, webhooks.DisputeAccepted:
		dispute.Status = status
	}
	return read.WithDispute(e, dispute), nil
}
