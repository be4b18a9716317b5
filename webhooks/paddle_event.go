package webhooks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// paddleEvent is the envelope
// (https://developer.paddle.com/webhooks/overview). event_id is the same for all
// destinations and retries, notification_id is not.
type paddleEvent struct {
	ID         string          `json:"event_id"`
	Type       string          `json:"event_type"`
	OccurredAt json.RawMessage `json:"occurred_at"`
	Data       json.RawMessage `json:"data"`
}

// paddleTransaction is a payment. Amounts are texts of minor units, as ISO 4217
// counts them (https://developer.paddle.com/api-reference/about/data-types,
// "Money").
type paddleTransaction struct {
	ID         string          `json:"id"`
	Status     string          `json:"status"`
	CustomData json.RawMessage `json:"custom_data"`
	Currency   string          `json:"currency_code"`
	Details    struct {
		Totals struct {
			GrandTotal string `json:"grand_total"`
		} `json:"totals"`
	} `json:"details"`
	Payments []struct {
		Status    string `json:"status"`
		ErrorCode string `json:"error_code"`
	} `json:"payments"`
}

type paddleAdjustment struct {
	ID            string `json:"id"`
	Action        string `json:"action"`
	Status        string `json:"status"`
	TransactionID string `json:"transaction_id"`
	Currency      string `json:"currency_code"`
	Totals        struct {
		Total string `json:"total"`
	} `json:"totals"`
}

func parsePaddle(body []byte) (Event, error) {
	var envelope paddleEvent
	if err := decode("event", body, &envelope); err != nil {
		return Event{}, err
	}
	if envelope.ID == "" || envelope.Type == "" {
		return Event{}, fmt.Errorf("%w: event without event_id or event_type", ErrPayload)
	}
	event := Event{
		ID: envelope.ID, IDSource: Native, Type: envelope.Type, Kind: KindIgnored,
		OccurredAt: jsonTime(envelope.OccurredAt),
	}
	switch subject, _, _ := strings.Cut(event.Type, "."); subject {
	case "transaction":
		var transaction paddleTransaction
		if err := decode("data of "+event.Type, envelope.Data, &transaction); err != nil {
			return Event{}, err
		}
		return transaction.fill(event)
	case "adjustment":
		var adjustment paddleAdjustment
		if err := decode("data of "+event.Type, envelope.Data, &adjustment); err != nil {
			return Event{}, err
		}
		return adjustment.fill(event)
	default:
		return event, nil
	}
}

// kind reads an event of a transaction. transaction.updated, which follows any
// change, counts by the status that it tells of.
func (p paddleTransaction) kind(eventType string) Kind {
	switch eventType {
	case "transaction.paid", "transaction.completed":
		return KindSucceeded
	case "transaction.payment_failed", "transaction.past_due":
		return KindSoftFailed
	case "transaction.canceled":
		return KindFailed
	case "transaction.created", "transaction.ready", "transaction.billed", "transaction.updated":
		return p.statusKind()
	default:
		return KindIgnored
	}
}

func (p paddleTransaction) statusKind() Kind {
	switch p.Status {
	case "paid", "completed":
		return KindSucceeded
	case "canceled":
		return KindFailed
	case "draft", "ready", "billed":
		return KindProcessing
	default:
		return KindIgnored
	}
}

func (p paddleTransaction) fill(e Event) (Event, error) {
	e.Kind = p.kind(e.Type)
	if e.Kind == KindIgnored {
		return e, nil
	}
	e.ProviderPaymentID = p.ID
	e.References = references(textMembers(p.CustomData)["payment_attempt_id"], p.ID)
	if e.Kind == KindFailed {
		e.FailureCode = codeCanceled
	}
	if e.Kind == KindSoftFailed {
		e.FailureCode, e.ProviderCode = p.failure()
	}
	return e.withMoney(minorMoneyIn(p.Details.Totals.GrandTotal, p.Currency, nil))
}

// paddleCodes translates the error codes of payments
// (https://developer.paddle.com/api-reference/transactions/overview, "payments").
var paddleCodes = map[string]string{
	"authentication_failed":   codeAuthenticationFailed,
	"blocked_card":            codeFraudSuspected,
	"canceled":                codeCanceled,
	"declined":                codeCardDeclined,
	"declined_not_retryable":  codeCardDeclined,
	"expired_card":            codeCardDeclined,
	"fraud":                   codeFraudSuspected,
	"invalid_payment_details": codeCardDeclined,
	"not_enough_balance":      codeInsufficientFunds,
}

// failure takes the newest payment, which Paddle lists first.
func (p paddleTransaction) failure() (code, providerCode string) {
	if len(p.Payments) == 0 {
		return codeProviderRejected, ""
	}
	providerCode = p.Payments[0].ErrorCode
	return cmp.Or(paddleCodes[providerCode], codeProviderRejected), providerCode
}

// kind reads an adjustment. A chargeback takes the money when it is approved, and its
// reversal, an adjustment of its own, returns it; a warning puts it at stake; credits
// move no money.
func (p paddleAdjustment) kind() Kind {
	switch p.Action + " " + p.Status {
	case "refund pending_approval":
		return KindRefundPending
	case "refund approved":
		return KindRefundSucceeded
	case "refund rejected", "refund reversed":
		return KindRefundFailed
	case "chargeback approved":
		return KindChargeback
	case "chargeback_reverse approved":
		return KindChargebackReversed
	case "chargeback_warning approved", "chargeback_warning pending_approval", "chargeback pending_approval":
		return KindDisputed
	default:
		return KindIgnored
	}
}

func (p paddleAdjustment) fill(e Event) (Event, error) {
	e.Kind = p.kind()
	if e.Kind == KindIgnored {
		return e, nil
	}
	e.ProviderPaymentID = p.TransactionID
	e.References = references(p.TransactionID)
	if p.Action == "refund" {
		e.RefundID = p.ID
	}
	if e.Kind.moves() {
		e.MovementID = p.ID
	}
	if e.Kind.failed() {
		e.FailureCode, e.ProviderCode = codeProviderRejected, p.Status
	}
	return e.withMoney(minorMoneyIn(p.Totals.Total, p.Currency, nil))
}
