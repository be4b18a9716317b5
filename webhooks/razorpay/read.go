package razorpay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// rawEvent is the envelope (https://razorpay.com/docs/webhooks/payloads/). The payload holds {"entity": {…}} by the
// entity's name.
type rawEvent struct {
	Event     read.Note                  `json:"event"`
	Contains  read.Optional[[]read.Note] `json:"contains"`
	CreatedAt json.RawMessage            `json:"created_at"`
	Payload   json.RawMessage            `json:"payload"`
	AccountID read.Note                  `json:"account_id"`
}

// entityData holds the fields read from a payment, order, refund, dispute or payment link. Each has some of the fields.
// Amounts are in the currency's subunits of ISO 4217: no decimals for JPY, three for KWD, BHD and OMR
// (https://razorpay.com/docs/api/payments/).
type entityData struct {
	ID          string          `json:"id"`
	OrderID     string          `json:"order_id"`
	PaymentID   string          `json:"payment_id"`
	Receipt     read.Note       `json:"receipt"`
	ReferenceID read.Note       `json:"reference_id"`
	Notes       json.RawMessage `json:"notes"`

	Currency       read.Word     `json:"currency"`
	Amount         *read.Integer `json:"amount"`
	AmountPaid     *read.Integer `json:"amount_paid"`
	AmountDeducted *read.Integer `json:"amount_deducted"`

	// Captured is that of a payment.
	Captured read.Word `json:"captured"`
	// Payments are those of a link.
	Payments read.Optional[[]struct {
		PaymentID string `json:"payment_id"`
	}] `json:"payments"`

	ErrorCode   read.Note `json:"error_code"`
	ErrorReason read.Note `json:"error_reason"`

	// Of a dispute.
	Phase      read.Note       `json:"phase"`
	ReasonCode read.Note       `json:"reason_code"`
	RespondBy  json.RawMessage `json:"respond_by"`
}

func parse(body []byte) (webhooks.Event, error) {
	var envelope rawEvent
	if err := read.JSON("event", body, &envelope); err != nil {
		return webhooks.Event{}, err
	}
	event := webhooks.Event{
		ID: envelope.id(), IDSource: webhooks.Derived, Type: string(envelope.Event), OccurredAt: read.Time(envelope.CreatedAt),
		Payee: string(envelope.AccountID),
	}
	if event.Type == "" {
		return event, fmt.Errorf("%w: event without a name", webhooks.ErrPayload)
	}
	var subject string
	event.Kind, subject = kindOf(event.Type)
	if event.Kind == webhooks.KindIgnored {
		return event, nil
	}
	return envelope.fill(event, subject)
}

// mostEntities is how many entities of an event make its id: Razorpay sends at most three.
const mostEntities = 10

// id derives the event's id from signed fields.
func (r rawEvent) id() string {
	fields := []string{string(r.Event), string(r.CreatedAt)}
	for _, name := range r.Contains.Value[:min(len(r.Contains.Value), mostEntities)] {
		fields = append(fields, read.Text(read.Members(r.raw(string(name)))["id"]))
	}
	return read.DerivedID(fields...)
}

// raw returns the entity of that name, nil if there is none.
func (r rawEvent) raw(name string) json.RawMessage {
	return read.Members(read.Members(r.Payload)[name])["entity"]
}

// kindOf translates the names of events that are about a payment, and names the entity that they are about. A dispute
// takes the money when it is lost (https://razorpay.com/docs/api/disputes/entity, "amount_deducted"), or when it is
// raised, where the account is so configured
// (https://razorpay.com/docs/payments/disputes/chargeback-fees-and-penalties). amount_deducted shows this. A dispute that is
// won returns the money that it has taken.
func kindOf(eventType string) (kind webhooks.Kind, subject string) {
	switch eventType {
	case "payment.authorized":
		return webhooks.KindAuthorized, "payment"
	case "payment.captured":
		return webhooks.KindSucceeded, "payment"
	case "payment.failed":
		return webhooks.KindSoftFailed, "payment"
	case "order.paid":
		return webhooks.KindSucceeded, "order"
	case "payment_link.paid":
		return webhooks.KindSucceeded, "payment_link"
	case "payment_link.cancelled", "payment_link.expired":
		return webhooks.KindFailed, "payment_link"
	case "refund.created":
		return webhooks.KindRefundPending, "refund"
	case "refund.processed":
		return webhooks.KindRefundSucceeded, "refund"
	case "refund.failed":
		return webhooks.KindRefundFailed, "refund"
	case "payment.dispute.created", "payment.dispute.under_review", "payment.dispute.action_required",
		"payment.dispute.won", "payment.dispute.closed":
		return webhooks.KindDisputed, "dispute"
	case "payment.dispute.lost":
		return webhooks.KindChargeback, "dispute"
	default:
		return webhooks.KindIgnored, ""
	}
}

// fill adds the fields of the entities to an event. The event's subject must be among the entities; other entities may stand
// beside it. The notes of a payment come from the browser through Checkout
// (https://razorpay.com/docs/payments/payment-gateway/web-integration/standard/integration-steps/). An order and a link are
// made with the key's secret.
func (r rawEvent) fill(e webhooks.Event, name string) (webhooks.Event, error) {
	entities := map[string]entityData{}
	for _, each := range []string{"payment", "order", "payment_link", "refund", "dispute"} {
		raw := r.raw(each)
		var entity entityData
		if each != name {
			read.Loosely(raw, &entity)
		} else if err := read.JSON(each+" of "+e.Type, raw, &entity); err != nil {
			return e, err
		}
		entities[each] = entity
	}
	subject, payment, order, link := entities[name], entities["payment"], entities["order"], entities["payment_link"]
	e.ProviderPaymentID = cmp.Or(payment.ID, subject.PaymentID)
	if paid := link.Payments.Value; e.ProviderPaymentID == "" && len(paid) == 1 {
		e.ProviderPaymentID = paid[0].PaymentID
	}
	e.Container = cmp.Or(link.ID, payment.OrderID, order.ID)
	if name == "payment_link" && e.Kind == webhooks.KindFailed {
		e.ProviderPaymentID = "" // the end of a link is that of no payment
	}
	ours := cmp.Or(order.attempt(), link.attempt())
	if name == "refund" {
		ours = cmp.Or(ours, subject.attempt())
	}
	e.BrowserMark = ours == "" && payment.attempt() != "" && !slices.Contains([]string{string(link.ReferenceID), string(order.Receipt)}, payment.attempt())
	e.References = read.References(
		cmp.Or(ours, payment.attempt(), subject.attempt()), string(link.ReferenceID), string(order.Receipt),
		e.ProviderPaymentID, payment.OrderID, order.ID, link.OrderID, link.ID,
	)
	if payment.Captured == "false" && name == "refund" {
		// Razorpay returned money on its own that it never captured for the merchant: the authorization came late, or
		// beside another payment of the same order (https://razorpay.com/docs/payments/refunds/auto-refunds/).
		e.Kind = webhooks.KindIgnored
		return e, nil
	}
	if name == "refund" {
		e.RefundID = subject.ID
		e.RefundReference = cmp.Or(read.TextMembers(subject.Notes)["refund_id"], string(subject.Receipt))
	}
	if name == "dispute" && subject.deducted() && disputeStatuses[e.Type].Open() {
		e.Kind = webhooks.KindChargeback
	}
	if e.Kind.IsMovement() {
		e.MovementID = subject.ID
	}
	if e.Kind.IsFailure() {
		e.FailureCode, e.ProviderCode = subject.failure(e.Type)
	}
	// A failed payment may be authorized late, and its order, and that one's link, take others
	// (https://razorpay.com/docs/payments/payments/late-authorization/, https://razorpay.com/docs/api/orders/, "attempts").
	e.PageOpen = e.Kind == webhooks.KindSoftFailed
	amount, currency := subject.amount(name), subject.Currency
	if e.Kind == webhooks.KindSucceeded && payment.Amount != nil {
		amount, currency = payment.Amount, payment.Currency // the paid amount of an order or a link may be the sum of several payments
	}
	e, err := read.WithUnits(e, amount, currency, nil)
	if name == "dispute" {
		e = subject.withDispute(e)
	}
	return e, err
}

func (r entityData) attempt() string { return read.TextMembers(r.Notes)["payment_attempt_id"] }

// deducted reports whether a dispute has taken money.
func (r entityData) deducted() bool { return r.AmountDeducted != nil && *r.AmountDeducted != 0 }

// amount returns the amount of the event.
func (r entityData) amount(name string) *read.Integer {
	switch name {
	case "order", "payment_link":
		if r.AmountPaid != nil && *r.AmountPaid != 0 {
			return r.AmountPaid
		}
	case "dispute":
		if r.deducted() {
			return r.AmountDeducted
		}
	}
	return r.Amount
}

// reasons translates error_reason. Only payment_failed and payment_cancelled were seen in the documentation's samples;
// the others are from memory. Any other reason becomes provider_rejected.
var reasons = map[string]webhooks.FailureCode{
	"authentication_failed":     webhooks.CodeAuthenticationFailed,
	"card_declined":             webhooks.CodeCardDeclined,
	"incorrect_otp":             webhooks.CodeAuthenticationFailed,
	"insufficient_funds":        webhooks.CodeInsufficientFunds,
	"payment_cancelled":         webhooks.CodeCanceled,
	"payment_risk_check_failed": webhooks.CodeFraudSuspected,
	"payment_timed_out":         webhooks.CodeExpired,
}

// FailureCode returns paylatch's code and the one of Razorpay to keep for the error_reason and error_code of a payment
// that failed.
func FailureCode(errorReason, errorCode string) (ours webhooks.FailureCode, razorpays string) {
	return cmp.Or(reasons[errorReason], webhooks.CodeProviderRejected), cmp.Or(errorReason, errorCode)
}

func (r entityData) failure(eventType string) (code webhooks.FailureCode, providerCode string) {
	switch eventType {
	case "payment_link.expired":
		return webhooks.CodeExpired, ""
	case "payment_link.cancelled":
		return webhooks.CodeCanceled, ""
	}
	return FailureCode(string(r.ErrorReason), string(r.ErrorCode))
}
