package webhooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// checkoutExponents names the currency whose digits at Checkout.com differ from
// ISO 4217 (https://www.checkout.com/docs/resources/calculating-the-amount): the
// Chilean peso is divided by 100 like all that the page does not list.
var checkoutExponents = map[string]int{"CLP": 2}

// checkoutEvent is the envelope; workflows say timestamp, older webhooks
// created_on.
type checkoutEvent struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Timestamp json.RawMessage `json:"timestamp"`
	CreatedOn json.RawMessage `json:"created_on"`
	Data      json.RawMessage `json:"data"`
}

// checkoutData holds what is read of a payment's action or of a dispute, whose
// own id is not the payment's.
type checkoutData struct {
	ID               string          `json:"id"`
	ActionID         string          `json:"action_id"`
	PaymentID        string          `json:"payment_id"`
	Reference        string          `json:"reference"`
	PaymentReference string          `json:"payment_reference"`
	Metadata         json.RawMessage `json:"metadata"`
	Amount           *integer        `json:"amount"`
	Currency         string          `json:"currency"`
	ResponseCode     string          `json:"response_code"`
}

func parseCheckout(body []byte) (Event, error) {
	if !json.Valid(body) {
		body = repairCheckout(body)
	}
	var envelope checkoutEvent
	if err := decode("event", body, &envelope); err != nil {
		return Event{}, err
	}
	if envelope.ID == "" || envelope.Type == "" {
		return Event{}, fmt.Errorf("%w: event without id or type", ErrPayload)
	}
	event := Event{ID: envelope.ID, IDSource: Native, Type: envelope.Type, OccurredAt: jsonTime(envelope.Timestamp)}
	if event.OccurredAt.IsZero() {
		event.OccurredAt = jsonTime(envelope.CreatedOn)
	}
	event.Kind = checkoutKind(event.Type)
	if event.Kind == KindIgnored {
		return event, nil
	}
	var data checkoutData
	if err := decode("data of "+event.Type, envelope.Data, &data); err != nil {
		return Event{}, err
	}
	return data.fill(event)
}

// repairCheckout puts back the name whose place a broken character took. It is
// tried only on what is not JSON, and only once: what is broken otherwise stays so.
func repairCheckout(body []byte) []byte {
	if !bytes.Contains(body, []byte(`"authentication_failed"`)) {
		return body
	}
	return bytes.Replace(body, []byte("\uFFFD"), []byte(`"data":`), 1)
}

// checkoutKind translates the types that are about a payment
// (https://www.checkout.com/docs/developer-resources/webhooks/webhook-event-types).
// A declined payment is final under its id; a declined void leaves it as it is. A
// dispute takes the money when evidence is required, whatever becomes of it, until it
// is won or cancelled (https://www.checkout.com/docs/dashboard/disputes).
func checkoutKind(eventType string) Kind {
	switch eventType {
	case "payment_pending", "payment_void_declined":
		return KindProcessing
	case "payment_approved":
		return KindAuthorized
	case "payment_captured":
		return KindSucceeded
	case "payment_capture_declined":
		return KindSoftFailed
	case "payment_declined", "payment_canceled", "payment_voided", "payment_expired":
		return KindFailed
	case "payment_returned":
		return KindReversed
	case "dispute_evidence_required", "dispute_lost", "dispute_accepted", "dispute_expired", "dispute_arbitration_lost":
		return KindChargeback
	case "dispute_won", "dispute_canceled", "dispute_arbitration_won":
		return KindChargebackReversed
	case "payment_refund_pending":
		return KindRefundPending
	case "payment_refunded":
		return KindRefundSucceeded
	case "payment_refund_declined":
		return KindRefundFailed
	case "dispute_received", "payment_chargeback":
		return KindDisputed
	default:
		return KindIgnored
	}
}

// fill adds to an event what its data say.
func (c checkoutData) fill(e Event) (Event, error) {
	said := textMembers(c.Metadata)
	e.ProviderPaymentID = cmp.Or(c.PaymentID, c.ID)
	e.References = references(said["payment_attempt_id"], c.PaymentReference, c.Reference, e.ProviderPaymentID)
	if strings.HasPrefix(e.Type, "payment_refund") {
		e.RefundID, e.RefundReference = c.ActionID, said["refund_id"]
	}
	switch {
	case e.Kind == KindReversed:
		e.MovementID = c.ActionID
	case e.Kind.moves() && c.PaymentID != "":
		e.MovementID = c.ID // the dispute's
	}
	e.CaptureRefused = e.Type == "payment_capture_declined"
	e.CancelRefused = e.Type == "payment_void_declined"
	if e.Kind.failed() {
		e.FailureCode, e.ProviderCode = checkoutFailure(e.Type, c.ResponseCode)
	}
	return e.withMoney(moneyIn(c.Amount, c.Currency, checkoutExponents))
}

// checkoutCodes translates response codes
// (https://www.checkout.com/docs/resources/codes/http-response-codes); those of
// 3-D Secure (2015x) and of lost and stolen cards (300xx) are from memory, and
// would otherwise be a declined card.
var checkoutCodes = map[string]string{
	"20051": codeInsufficientFunds,
	"20059": codeFraudSuspected,
	"20151": codeAuthenticationFailed,
	"20152": codeAuthenticationFailed,
	"20154": codeAuthenticationFailed,
	"20155": codeAuthenticationFailed,
	"30034": codeFraudSuspected,
	"30041": codeFraudSuspected,
	"30043": codeFraudSuspected,
}

// CheckoutFailureCode returns paylatch's code and the one of Checkout.com to keep
// for the response code of a payment that was declined: 2xxxx and 3xxxx are the
// bank's refusals, 4xxxx those of risk rules.
func CheckoutFailureCode(responseCode string) (ours, checkouts string) {
	class := codeProviderRejected
	switch {
	case strings.HasPrefix(responseCode, "2"), strings.HasPrefix(responseCode, "3"):
		class = codeCardDeclined
	case strings.HasPrefix(responseCode, "4"):
		class = codeFraudSuspected
	}
	return cmp.Or(checkoutCodes[responseCode], class), responseCode
}

// checkoutFailure returns paylatch's code and Checkout.com's for an event that is
// a failure.
func checkoutFailure(eventType, responseCode string) (code, providerCode string) {
	switch eventType {
	case "payment_canceled", "payment_voided":
		return codeCanceled, responseCode
	case "payment_expired":
		return codeExpired, responseCode
	case "payment_refund_declined", "payment_capture_declined":
		return codeProviderRejected, responseCode
	default:
		return CheckoutFailureCode(responseCode)
	}
}
