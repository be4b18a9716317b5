package webhooks

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// razorpayEvent is the envelope (https://razorpay.com/docs/webhooks/payloads/).
// The payload holds {"entity": {…}} by the entity's name.
type razorpayEvent struct {
	Event     string                     `json:"event"`
	Contains  []string                   `json:"contains"`
	CreatedAt json.RawMessage            `json:"created_at"`
	Payload   map[string]json.RawMessage `json:"payload"`
}

// razorpayEntity holds what is read of a payment, order, refund, dispute or
// payment link; each has some of it. Amounts are in the currency's subunits as
// ISO 4217 has them: none for JPY, three for KWD, BHD and OMR
// (https://razorpay.com/docs/api/payments/).
type razorpayEntity struct {
	ID          string          `json:"id"`
	OrderID     string          `json:"order_id"`
	PaymentID   string          `json:"payment_id"`
	Receipt     string          `json:"receipt"`
	ReferenceID string          `json:"reference_id"`
	Notes       json.RawMessage `json:"notes"`

	Currency       string   `json:"currency"`
	Amount         *integer `json:"amount"`
	AmountPaid     *integer `json:"amount_paid"`
	AmountDeducted *integer `json:"amount_deducted"`

	// Captured is that of a payment.
	Captured *bool `json:"captured"`

	ErrorCode   string `json:"error_code"`
	ErrorReason string `json:"error_reason"`
}

func parseRazorpay(body []byte) (Event, error) {
	var envelope razorpayEvent
	if err := decode("event", body, &envelope); err != nil {
		return Event{}, err
	}
	if envelope.Event == "" {
		return Event{}, fmt.Errorf("%w: event without a name", ErrPayload)
	}
	event := Event{
		ID: envelope.id(), IDSource: Derived, Type: envelope.Event, OccurredAt: jsonTime(envelope.CreatedAt),
	}
	var subject string
	event.Kind, subject = razorpayKind(event.Type)
	if event.Kind == KindIgnored {
		return event, nil
	}
	return envelope.fill(event, subject)
}

// id derives the event's id from what is signed.
func (r razorpayEvent) id() string {
	fields := []string{r.Event, string(r.CreatedAt)}
	for _, name := range r.Contains {
		fields = append(fields, jsonText(members(r.raw(name))["id"]))
	}
	return derivedID(fields...)
}

// raw returns the entity of that name, nil if there is none.
func (r razorpayEvent) raw(name string) json.RawMessage {
	return members(r.Payload[name])["entity"]
}

// razorpayKind translates the names of events that are about a payment, and says
// which entity they speak of. A dispute takes the money when it is lost, and not
// before (https://razorpay.com/docs/api/disputes/entity, "amount_deducted"): one that is
// won has nothing to return, and one that is under review or needs evidence says nothing
// that its opening did not.
func razorpayKind(eventType string) (kind Kind, subject string) {
	switch eventType {
	case "payment.authorized":
		return KindAuthorized, "payment"
	case "payment.captured":
		return KindSucceeded, "payment"
	case "payment.failed":
		return KindSoftFailed, "payment"
	case "order.paid":
		return KindSucceeded, "order"
	case "payment_link.paid":
		return KindSucceeded, "payment_link"
	case "payment_link.cancelled", "payment_link.expired":
		return KindFailed, "payment_link"
	case "refund.created":
		return KindRefundPending, "refund"
	case "refund.processed":
		return KindRefundSucceeded, "refund"
	case "refund.failed":
		return KindRefundFailed, "refund"
	case "payment.dispute.created":
		return KindDisputed, "dispute"
	case "payment.dispute.lost":
		return KindChargeback, "dispute"
	default:
		return KindIgnored, ""
	}
}

// fill adds to an event what its entities say: the one that it speaks of, which
// must be there, and those beside it.
func (r razorpayEvent) fill(e Event, name string) (Event, error) {
	entities := map[string]razorpayEntity{}
	for _, each := range []string{"payment", "order", "payment_link", "refund", "dispute"} {
		raw := r.raw(each)
		if raw == nil && each != name {
			continue
		}
		var entity razorpayEntity
		if err := decode(each+" of "+e.Type, raw, &entity); err != nil {
			return Event{}, err
		}
		entities[each] = entity
	}
	subject, payment, order, link := entities[name], entities["payment"], entities["order"], entities["payment_link"]
	e.ProviderPaymentID = cmp.Or(payment.ID, subject.PaymentID)
	e.References = references(
		cmp.Or(payment.attempt(), order.attempt(), link.attempt(), subject.attempt()), link.ReferenceID, order.Receipt,
		e.ProviderPaymentID, payment.OrderID, order.ID, link.OrderID, link.ID,
	)
	if payment.Captured != nil && !*payment.Captured && name == "refund" {
		// Razorpay gave back by itself what it never took for the merchant: an
		// authorization that came late, or beside another payment of the same order
		// (https://razorpay.com/docs/payments/refunds/auto-refunds/).
		e.Kind = KindIgnored
		return e, nil
	}
	if name == "refund" {
		e.RefundID = subject.ID
		e.RefundReference = cmp.Or(textMembers(subject.Notes)["refund_id"], subject.Receipt)
	}
	if e.Kind.moves() {
		e.MovementID = subject.ID
	}
	if e.Kind.failed() {
		e.FailureCode, e.ProviderCode = subject.failure(e.Type)
	}
	return e.withMoney(moneyIn(subject.amount(name), subject.Currency, nil))
}

func (r razorpayEntity) attempt() string { return textMembers(r.Notes)["payment_attempt_id"] }

// amount is what the news is about.
func (r razorpayEntity) amount(name string) *integer {
	switch name {
	case "order", "payment_link":
		if r.AmountPaid != nil && *r.AmountPaid > 0 {
			return r.AmountPaid
		}
	case "dispute":
		if r.AmountDeducted != nil && *r.AmountDeducted > 0 {
			return r.AmountDeducted
		}
	}
	return r.Amount
}

// razorpayReasons translates error_reason. Only payment_failed and
// payment_cancelled were seen in the documentation's samples; the others are from
// memory, and what is not here is provider_rejected.
var razorpayReasons = map[string]string{
	"authentication_failed":     codeAuthenticationFailed,
	"card_declined":             codeCardDeclined,
	"incorrect_otp":             codeAuthenticationFailed,
	"insufficient_funds":        codeInsufficientFunds,
	"payment_cancelled":         codeCanceled,
	"payment_risk_check_failed": codeFraudSuspected,
	"payment_timed_out":         codeExpired,
}

// RazorpayFailureCode returns paylatch's code and the one of Razorpay to keep for
// the error_reason and error_code of a payment that failed.
func RazorpayFailureCode(errorReason, errorCode string) (ours, razorpays string) {
	return cmp.Or(razorpayReasons[errorReason], codeProviderRejected), cmp.Or(errorReason, errorCode)
}

func (r razorpayEntity) failure(eventType string) (code, providerCode string) {
	switch eventType {
	case "payment_link.expired":
		return codeExpired, ""
	case "payment_link.cancelled":
		return codeCanceled, ""
	}
	return RazorpayFailureCode(r.ErrorReason, r.ErrorCode)
}
