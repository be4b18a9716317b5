package webhooks

import (
	"encoding/json"
	"fmt"
)

// standardData is the member "data" of the sandbox's events.
type standardData struct {
	ChargeID        string   `json:"charge_id"`
	RefundID        string   `json:"refund_id"`
	Reference       string   `json:"reference"`
	RefundReference string   `json:"refund_reference"`
	Amount          *integer `json:"amount"`
	Currency        string   `json:"currency"`
	FailureCode     string   `json:"failure_code"`
}

// standardEvent is an event of the sandbox.
type standardEvent struct {
	Type    string          `json:"type"`
	Created json.RawMessage `json:"created"`
	Data    standardData    `json:"data"`
}

// parseStandard reads what is as it should be in one pass, as nearly all is.
func parseStandard(body []byte) (Event, error) {
	var e standardEvent
	if json.Unmarshal(body, &e) != nil {
		return parseStandardParts(body)
	}
	event := Event{Type: e.Type, Kind: standardKind(e.Type), OccurredAt: jsonTime(e.Created)}
	if event.Kind == KindIgnored {
		return event, nil
	}
	return e.Data.fill(event)
}

// parseStandardParts reads what is no event in whole or in part: what its type
// does not call for may be of any form.
func parseStandardParts(body []byte) (Event, error) {
	envelope := members(body)
	if envelope == nil && !json.Valid(body) {
		return Event{}, fmt.Errorf("%w: not JSON", ErrPayload)
	}
	event := Event{Type: jsonText(envelope["type"]), OccurredAt: jsonTime(envelope["created"])}
	event.Kind = standardKind(event.Type)
	if event.Kind == KindIgnored {
		return event, nil
	}
	var data standardData
	if raw := envelope["data"]; raw != nil {
		if err := decode("data of "+event.Type, raw, &data); err != nil {
			return Event{}, err
		}
	}
	return data.fill(event)
}

func standardKind(eventType string) Kind {
	switch eventType {
	case "charge.pending":
		return KindProcessing
	case "charge.authorized":
		return KindAuthorized
	case "charge.succeeded":
		return KindSucceeded
	case "charge.failed", "charge.canceled":
		return KindFailed
	case "refund.pending":
		return KindRefundPending
	case "refund.succeeded":
		return KindRefundSucceeded
	case "refund.failed":
		return KindRefundFailed
	default:
		return KindIgnored
	}
}

// fill adds to an event what its data say. Half of its money can't be compared with
// the payment's, and must not pass for none.
func (d standardData) fill(e Event) (Event, error) {
	e.References = references(d.Reference, d.ChargeID)
	e.ProviderPaymentID = d.ChargeID
	e.RefundID, e.RefundReference = d.RefundID, d.RefundReference
	if e.Kind.failed() {
		e.FailureCode, e.ProviderCode = knownCode(d.FailureCode), d.FailureCode
	}
	if e.Type == "charge.canceled" {
		e.FailureCode = codeCanceled
	}
	if !e.Kind.failed() && (d.Amount == nil) != (d.Currency == "") {
		return Event{}, fmt.Errorf("%w: %s has an amount without a currency, or a currency without an amount", ErrPayload, e.Type)
	}
	return e.withMoney(moneyIn(d.Amount, d.Currency, nil))
}
