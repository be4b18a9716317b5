package paddle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// rawEvent is the envelope (https://developer.paddle.com/webhooks/overview). event_id is the same for all destinations
// and retries, notification_id is not.
type rawEvent struct {
	ID         read.Note       `json:"event_id"`
	Type       read.Note       `json:"event_type"`
	OccurredAt json.RawMessage `json:"occurred_at"`
	Data       json.RawMessage `json:"data"`
}

// transactionData is a payment. Amounts are texts of minor units, as ISO 4217 counts them
// (https://developer.paddle.com/api-reference/about/data-types, "Money").
type transactionData struct {
	ID         string          `json:"id"`
	Status     json.RawMessage `json:"status"`
	Origin     read.Note       `json:"origin"`
	CustomData json.RawMessage `json:"custom_data"`
	Currency   read.Word       `json:"currency_code"`
	Details    json.RawMessage `json:"details"`
	Payments   read.Optional[[]struct {
		ErrorCode read.Note `json:"error_code"`
	}] `json:"payments"`
}

type adjustmentData struct {
	ID            string          `json:"id"`
	Action        string          `json:"action"`
	Status        string          `json:"status"`
	TransactionID string          `json:"transaction_id"`
	Currency      read.Word       `json:"currency_code"`
	Totals        json.RawMessage `json:"totals"`
}

func parse(body []byte) (webhooks.Event, error) {
	var envelope rawEvent
	if err := read.JSON("event", body, &envelope); err != nil {
		return webhooks.Event{}, err
	}
	event := webhooks.Event{
		ID: string(envelope.ID), IDSource: webhooks.Native, Type: string(envelope.Type), Kind: webhooks.KindIgnored,
		OccurredAt: read.Time(envelope.OccurredAt),
	}
	if event.ID == "" || event.Type == "" {
		return event, fmt.Errorf("%w: event without event_id or event_type", webhooks.ErrPayload)
	}
	switch subject, _, _ := strings.Cut(event.Type, "."); subject {
	case "transaction":
		var transaction transactionData
		if err := read.JSON("data of "+event.Type, envelope.Data, &transaction); err != nil {
			return event, err
		}
		return transaction.fill(event)
	case "adjustment":
		var adjustment adjustmentData
		if err := read.JSON("data of "+event.Type, envelope.Data, &adjustment); err != nil {
			return event, err
		}
		return adjustment.fill(event)
	default:
		return event, nil
	}
}

func noStatus(e webhooks.Event) error {
	return fmt.Errorf("%w: %s without an action or status", webhooks.ErrPayload, e.Type)
}

// kind reads an event of a transaction. transaction.updated, which follows any change, counts by its status.
func (p transactionData) kind(eventType string) webhooks.Kind {
	switch eventType {
	case "transaction.paid", "transaction.completed":
		return webhooks.KindSucceeded
	case "transaction.payment_failed", "transaction.past_due":
		return webhooks.KindSoftFailed
	case "transaction.canceled":
		return webhooks.KindFailed
	case "transaction.created", "transaction.ready", "transaction.billed", "transaction.updated":
		return p.statusKind()
	default:
		return webhooks.KindIgnored
	}
}

func (p transactionData) statusKind() webhooks.Kind {
	switch read.Text(p.Status) {
	case "paid", "completed":
		return webhooks.KindSucceeded
	case "canceled":
		return webhooks.KindFailed
	case "draft", "ready", "billed":
		return webhooks.KindProcessing
	case "":
		return webhooks.KindUnreadable
	default:
		return webhooks.KindIgnored
	}
}

func (p transactionData) fill(e webhooks.Event) (webhooks.Event, error) {
	e.Kind = p.kind(e.Type)
	if e.Kind == webhooks.KindUnreadable {
		return e, noStatus(e)
	}
	if e.Kind == webhooks.KindIgnored {
		return e, nil
	}
	// Paddle.js takes customData from the browser, with a public client-side token
	// (https://developer.paddle.com/paddlejs/methods/paddle-checkout-open).
	mark := p.mark()
	e.ProviderPaymentID, e.References, e.BrowserMark = p.ID, read.References(mark, p.ID), mark != ""
	if e.Kind == webhooks.KindFailed {
		e.FailureCode = webhooks.CodeCanceled
	}
	if e.Kind == webhooks.KindSoftFailed {
		e.FailureCode, e.ProviderCode = p.failure()
		e.PageOpen = e.Type == "transaction.payment_failed" && !p.renews()
	}
	return read.WithUnitsText(e, read.TextAt(p.Details, "totals", "grand_total"), string(p.Currency), nil)
}

// mark is the merchant's own id; empty if there is none. Paddle copies custom_data to the later charges of a subscription
// (https://developer.paddle.com/build/transactions/custom-data), which is another sale.
func (p transactionData) mark() string {
	if p.renews() {
		return ""
	}
	return read.TextMembers(p.CustomData)["payment_attempt_id"]
}

// renews reports whether a subscription has made the transaction, which no customer pays on a page.
func (p transactionData) renews() bool { return strings.HasPrefix(string(p.Origin), RenewalPrefix) }

// RenewalPrefix begins the origins of transactions that a subscription has made
// (https://developer.paddle.com/api-reference/transactions/overview, "origin").
const RenewalPrefix = "subscription_"

// codes translates the error codes of payments (https://developer.paddle.com/api-reference/transactions/overview,
// "payments").
var codes = map[string]webhooks.FailureCode{
	"authentication_failed":   webhooks.CodeAuthenticationFailed,
	"blocked_card":            webhooks.CodeFraudSuspected,
	"canceled":                webhooks.CodeCanceled,
	"declined":                webhooks.CodeCardDeclined,
	"declined_not_retryable":  webhooks.CodeCardDeclined,
	"expired_card":            webhooks.CodeCardDeclined,
	"fraud":                   webhooks.CodeFraudSuspected,
	"invalid_payment_details": webhooks.CodeCardDeclined,
	"not_enough_balance":      webhooks.CodeInsufficientFunds,
}

// failure takes the newest payment, which Paddle lists first.
func (p transactionData) failure() (code webhooks.FailureCode, providerCode string) {
	if len(p.Payments.Value) == 0 {
		return webhooks.CodeProviderRejected, ""
	}
	providerCode = string(p.Payments.Value[0].ErrorCode)
	return cmp.Or(codes[providerCode], webhooks.CodeProviderRejected), providerCode
}

// kind reads an adjustment. A chargeback takes the money when it is approved, and its reversal, an adjustment of its
// own, returns it, so that one with the status reversed has taken it; a warning puts it at stake; credits move no money.
func (p adjustmentData) kind() webhooks.Kind {
	switch p.Action + " " + p.Status {
	case "refund pending_approval":
		return webhooks.KindRefundPending
	case "refund approved":
		return webhooks.KindRefundSucceeded
	case "refund rejected", "refund reversed":
		return webhooks.KindRefundFailed
	case "chargeback approved", "chargeback reversed":
		return webhooks.KindChargeback
	case "chargeback_reverse approved":
		return webhooks.KindChargebackReversed
	case "chargeback_warning approved", "chargeback_warning pending_approval", "chargeback pending_approval":
		return webhooks.KindDisputed
	default:
		return webhooks.KindIgnored
	}
}

func (p adjustmentData) fill(e webhooks.Event) (webhooks.Event, error) {
	if p.Action == "" || p.Status == "" {
		return e, noStatus(e)
	}
	e.Kind = p.kind()
	if e.Kind == webhooks.KindIgnored {
		return e, nil
	}
	e.ProviderPaymentID = p.TransactionID
	e.References = read.References(p.TransactionID)
	if p.Action == "refund" {
		e.RefundID = p.ID
	}
	if e.Kind.IsMovement() {
		e.MovementID = p.ID
	}
	if e.Kind.IsFailure() {
		e.FailureCode, e.ProviderCode = webhooks.CodeProviderRejected, p.Status
	}
	return read.WithUnitsText(e, read.TextAt(p.Totals, "total"), string(p.Currency), nil)
}
