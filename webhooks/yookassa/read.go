package yookassa

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/plain"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// objectData holds the fields read from a payment or refund (https://yookassa.ru/developers/api#payment_object,
// #refund_object).
type objectData struct {
	ID         string          `json:"id"`
	Status     read.Word       `json:"status"`
	PaymentID  string          `json:"payment_id"` // of a refund
	Metadata   json.RawMessage `json:"metadata"`
	Test       read.Word       `json:"test"`
	CreatedAt  json.RawMessage `json:"created_at"`
	CapturedAt json.RawMessage `json:"captured_at"`
	Amount     json.RawMessage `json:"amount"`
	Details    json.RawMessage `json:"cancellation_details"`
	Recipient  json.RawMessage `json:"recipient"`
	// Invoice is that in which the payment was made, if it was in one.
	Invoice json.RawMessage `json:"invoice_details"`
}

// parse reads a notification. One about a payment has an id of its own for each arrival: were it a duplicate, a forged
// one could keep the real one from being looked up.
func parse(d webhooks.Delivery) (webhooks.Event, error) {
	var notification struct {
		Event  read.Note       `json:"event"`
		Object json.RawMessage `json:"object"`
	}
	if err := read.JSON("notification", d.Body, &notification); err != nil {
		return webhooks.Event{}, err
	}
	e := webhooks.Event{Type: string(notification.Event), IDSource: webhooks.Derived, Kind: kindOf(string(notification.Event))}
	if e.Type == "" {
		return e, fmt.Errorf("%w: notification without an event", webhooks.ErrPayload)
	}
	if e.Kind == webhooks.KindIgnored {
		object := read.Members(notification.Object)
		e.ID = read.DerivedID(e.Type, read.Text(object["id"]), read.Text(object["status"]))
		return e, nil
	}
	var object objectData
	if err := read.JSON("object of "+e.Type, notification.Object, &object); err != nil {
		return e, err
	}
	if !plain.ID(object.ID) || object.PaymentID != "" && !plain.ID(object.PaymentID) {
		return e, fmt.Errorf("%w: object of %s without an id of the known form", webhooks.ErrPayload, e.Type)
	}
	e.ID, e.NeedsFetch = read.NoticeID(d, e.Type, object.ID, string(object.Status)), true
	return object.fill(e)
}

func kindOf(eventType string) webhooks.Kind {
	switch eventType {
	case "payment.waiting_for_capture":
		return webhooks.KindAuthorized
	case "payment.succeeded":
		return webhooks.KindSucceeded
	case "payment.canceled":
		return webhooks.KindFailed
	case "refund.succeeded":
		return webhooks.KindRefundSucceeded
	default:
		return webhooks.KindIgnored
	}
}

// fill adds the object's fields to an event. The notification has no time of its own: only a capture and a refund
// are dated.
func (o objectData) fill(e webhooks.Event) (webhooks.Event, error) {
	metadata := read.TextMembers(o.Metadata)
	e.ProviderPaymentID, e.OccurredAt = o.ID, read.Time(o.CapturedAt)
	if e.Kind == webhooks.KindRefundSucceeded {
		e.ProviderPaymentID, e.RefundID = o.PaymentID, o.ID
		e.RefundReference = metadata["refund_id"]
		e.OccurredAt = read.Time(o.CreatedAt)
	}
	e.Payee, e.Container = read.Text(read.Members(o.Recipient)["account_id"]), read.Text(read.Members(o.Invoice)["id"])
	attempt := metadata["payment_attempt_id"]
	e.References = read.References(attempt, e.ProviderPaymentID, e.Container)
	if attempt == "" {
		e.References = read.References(e.ProviderPaymentID, e.Container, metadata["order_id"])
	}
	e.Mode = read.ModeText(string(o.Test), "true", "false")
	if e.Kind.IsFailure() {
		e.FailureCode, e.ProviderCode = FailureCode(read.Text(read.Members(o.Details)["reason"]))
	}
	return read.WithDecimal(e, string(read.WordAt(o.Amount, "value")), string(read.WordAt(o.Amount, "currency")))
}

// reasons translates why a payment was cancelled
// (https://yookassa.ru/developers/payment-acceptance/after-the-payment/declined-payments).
var reasons = map[string]webhooks.FailureCode{
	"3d_secure_failed":              webhooks.CodeAuthenticationFailed,
	"call_issuer":                   webhooks.CodeCardDeclined,
	"card_expired":                  webhooks.CodeCardDeclined,
	"general_decline":               webhooks.CodeCardDeclined,
	"invalid_card_number":           webhooks.CodeCardDeclined,
	"invalid_csc":                   webhooks.CodeCardDeclined,
	"payment_method_limit_exceeded": webhooks.CodeInsufficientFunds,
	"insufficient_funds":            webhooks.CodeInsufficientFunds,
	"fraud_suspected":               webhooks.CodeFraudSuspected,
	"canceled_by_merchant":          webhooks.CodeCanceled,
	"permission_revoked":            webhooks.CodeCanceled,
	"expired_on_confirmation":       webhooks.CodeExpired,
	"expired_on_capture":            webhooks.CodeExpired,
	"deal_expired":                  webhooks.CodeExpired,
	"internal_timeout":              webhooks.CodeExpired,
}

// FailureCode returns paylatch's code and the one of YooKassa to keep for the reason of a cancellation.
func FailureCode(reason string) (ours webhooks.FailureCode, yookassas string) {
	return cmp.Or(reasons[reason], webhooks.CodeProviderRejected), reason
}
