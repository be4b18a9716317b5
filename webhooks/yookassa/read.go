package yookassa

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/plain"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// objectData holds what is read of a payment or refund (https://yookassa.ru/developers/api#payment_object,
// #refund_object).
type objectData struct {
	ID         string                     `json:"id"`
	Status     string                     `json:"status"`
	PaymentID  string                     `json:"payment_id"` // of a refund
	Metadata   map[string]json.RawMessage `json:"metadata"`
	Test       *bool                      `json:"test"`
	CreatedAt  json.RawMessage            `json:"created_at"`
	CapturedAt json.RawMessage            `json:"captured_at"`
	Amount     *struct {
		Value    read.Scalar `json:"value"`
		Currency string      `json:"currency"`
	} `json:"amount"`
	CancellationDetails struct {
		Reason string `json:"reason"`
	} `json:"cancellation_details"`
}

// parse reads a notification. One about a payment has an id of its own for each arrival: were it a duplicate, a forged
// one could keep the real one from being looked up.
func parse(d webhooks.Delivery) (webhooks.Event, error) {
	var notification struct {
		Event  string          `json:"event"`
		Object json.RawMessage `json:"object"`
	}
	if err := read.JSON("notification", d.Body, &notification); err != nil {
		return webhooks.Event{}, err
	}
	e := webhooks.Event{Type: notification.Event, IDSource: webhooks.Derived, Kind: kindOf(notification.Event)}
	if e.Kind == webhooks.KindIgnored {
		object := read.Members(notification.Object)
		e.ID = read.DerivedID(e.Type, read.Text(object["id"]), read.Text(object["status"]))
		return e, nil
	}
	var object objectData
	if err := read.JSON("object of "+e.Type, notification.Object, &object); err != nil {
		return webhooks.Event{}, err
	}
	if !plain.ID(object.ID) || object.PaymentID != "" && !plain.ID(object.PaymentID) {
		return webhooks.Event{}, fmt.Errorf("%w: object of %s without an id of the known form", webhooks.ErrPayload, e.Type)
	}
	e.ID, e.NeedsFetch = read.NoticeID(d, e.Type, object.ID, object.Status), true
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

// fill adds to an event what its object contains. The notification has no time of its own: only a capture and a refund
// are dated.
func (o objectData) fill(e webhooks.Event) (webhooks.Event, error) {
	e.ProviderPaymentID, e.OccurredAt = o.ID, read.Time(o.CapturedAt)
	if e.Kind == webhooks.KindRefundSucceeded {
		e.ProviderPaymentID, e.RefundID = o.PaymentID, o.ID
		e.RefundReference = read.Text(o.Metadata["refund_id"])
		e.OccurredAt = read.Time(o.CreatedAt)
	}
	attempt := read.Text(o.Metadata["payment_attempt_id"])
	e.References = read.References(attempt, e.ProviderPaymentID)
	if attempt == "" {
		e.References = read.References(e.ProviderPaymentID, read.Text(o.Metadata["order_id"]))
	}
	if o.Test != nil {
		e.Mode = read.ModeOf(*o.Test)
	}
	if e.Kind.IsFailure() {
		e.FailureCode, e.ProviderCode = FailureCode(o.CancellationDetails.Reason)
	}
	if o.Amount == nil {
		return e, nil
	}
	money, err := webhooks.ParseDecimal(string(o.Amount.Value), o.Amount.Currency)
	return read.WithMoney(e, &money, err)
}

// reasons translates why a payment was cancelled
// (https://yookassa.ru/developers/payment-acceptance/after-the-payment/declined-payments).
var reasons = map[string]string{
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
func FailureCode(reason string) (ours, yookassas string) {
	return cmp.Or(reasons[reason], webhooks.CodeProviderRejected), reason
}
