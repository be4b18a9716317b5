package webhooks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// mollieEvent is the envelope of the next generation
// (https://docs.mollie.com/reference/get-webhook-event). Embedded is there only if
// the webhook was set up to carry a snapshot.
type mollieEvent struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	EntityID  string          `json:"entityId"`
	CreatedAt json.RawMessage `json:"createdAt"`
	Embedded  struct {
		Entity json.RawMessage `json:"entity"`
	} `json:"_embedded"`
	Links struct {
		Entity struct {
			Href string `json:"href"`
		} `json:"entity"`
	} `json:"_links"`
}

// mollieEntity holds what is read of a payment, refund, capture or chargeback.
type mollieEntity struct {
	Mode           string          `json:"mode"`
	PaymentID      string          `json:"paymentId"`
	Metadata       json.RawMessage `json:"metadata"`
	Amount         mollieAmount    `json:"amount"`
	AmountCaptured mollieAmount    `json:"amountCaptured"`
	Details        json.RawMessage `json:"details"`
	StatusReason   json.RawMessage `json:"statusReason"`
}

type mollieAmount struct {
	Value    string `json:"value"`
	Currency string `json:"currency"`
}

func (a mollieAmount) money() (*Money, error) { return decimalMoneyIn(a.Value, a.Currency) }

// parseMollie reads a signed event. Its kind is what the type says. Without a
// snapshot it has neither amount nor the merchant's reference, and needs a fetch;
// whose refund, capture or chargeback it is tells the address of that, as in
// /v2/payments/tr_1/refunds/re_1.
func parseMollie(body []byte) (Event, error) {
	var envelope mollieEvent
	if err := decode("event", body, &envelope); err != nil {
		return Event{}, err
	}
	if envelope.ID == "" {
		return Event{}, fmt.Errorf("%w: event without id", ErrPayload)
	}
	event := Event{
		ID: envelope.ID, IDSource: Native, Type: envelope.Type, OccurredAt: jsonTime(envelope.CreatedAt),
	}
	event.Kind, event.FailureCode = mollieKind(event.Type)
	if event.Kind == KindIgnored {
		return event, nil
	}
	if !mollieID.MatchString(envelope.EntityID) {
		return Event{}, fmt.Errorf("%w: %s without an entityId of Mollie's", ErrPayload, event.Type)
	}
	var entity mollieEntity
	if raw := envelope.Embedded.Entity; raw != nil {
		if err := decode("entity of "+event.Type, raw, &entity); err != nil {
			return Event{}, err
		}
	}
	if of := molliePart.FindStringSubmatch(envelope.Links.Entity.Href); of != nil {
		entity.PaymentID = cmp.Or(entity.PaymentID, of[1])
	}
	return entity.fill(event, envelope.EntityID)
}

const mollieCaptureFailed = "capture.failed"

// mollieKind translates the types that are about a payment, with paylatch's code
// for a failure. failed, canceled and expired are final at Mollie: the payment
// can't be tried again by another method.
func mollieKind(eventType string) (kind Kind, failureCode string) {
	switch eventType {
	case "payment.pending":
		return KindProcessing, ""
	case "payment.authorized", mollieCaptureFailed: // the hold stands
		return KindAuthorized, ""
	case "payment.paid", "payment-link.paid", "capture.succeeded":
		return KindSucceeded, ""
	case "payment.failed":
		return KindFailed, codeProviderRejected
	case "payment.canceled":
		return KindFailed, codeCanceled
	case "payment.expired":
		return KindFailed, codeExpired
	case "refund.queued", "refund.pending", "refund.processing":
		return KindRefundPending, ""
	case "refund.refunded":
		return KindRefundSucceeded, ""
	case "refund.failed":
		return KindRefundFailed, codeProviderRejected
	case "refund.canceled":
		return KindRefundFailed, codeCanceled
	case "chargeback.received":
		return KindChargeback, ""
	case "chargeback.reversed":
		return KindChargebackReversed, ""
	case "dispute.created", "dispute.updated":
		return KindDisputed, ""
	default:
		return KindIgnored, ""
	}
}

// fill adds to an event what its entity says.
func (m mollieEntity) fill(e Event, id string) (Event, error) {
	said := textMembers(m.Metadata)
	e.ProviderPaymentID = m.PaymentID
	if strings.HasPrefix(e.Type, "payment") { // a payment, or a payment link
		e.ProviderPaymentID = id
	}
	e.References = references(said["payment_attempt_id"], e.ProviderPaymentID)
	if strings.HasPrefix(e.Type, "refund.") {
		e.RefundID, e.RefundReference = id, said["refund_id"]
	}
	if e.Kind.moves() {
		e.MovementID = id
	}
	if e.Type == "payment.failed" {
		reason := cmp.Or(textMembers(m.Details)["failureReason"], textMembers(m.StatusReason)["code"])
		e.FailureCode, e.ProviderCode = MollieFailureCode(reason)
	}
	e.Test = m.Mode == "test"
	e.TestKnown = e.Test || m.Mode == "live"
	if e.CaptureRefused = e.Type == mollieCaptureFailed; e.CaptureRefused {
		e.NeedsFetch = e.ProviderPaymentID == ""
		return e, nil // the amount is of the capture, not of what is held
	}
	e, err := e.withMoney(m.money(e.Type))
	e.NeedsFetch = err == nil && e.Money == nil
	return e, err
}

// money is what an event speaks of. A payment is paid, too, when only a part of it
// was captured and the rest given up: its amount stays what was to be paid.
func (m mollieEntity) money(eventType string) (*Money, error) {
	if eventType == "payment.paid" {
		captured, err := m.AmountCaptured.money()
		if err != nil || captured != nil && captured.Minor > 0 {
			return captured, err
		}
	}
	return m.Amount.money()
}

// MollieFailureCode returns paylatch's code and the one of Mollie to keep for the
// reason of a failure (https://docs.mollie.com/reference/get-payment,
// "failureReason").
func MollieFailureCode(reason string) (ours, mollies string) {
	return cmp.Or(mollieReasons[reason], codeProviderRejected), reason
}

var mollieReasons = map[string]string{
	"authentication_abandoned":       codeAuthenticationFailed,
	"authentication_failed":          codeAuthenticationFailed,
	"authentication_required":        codeAuthenticationFailed,
	"authentication_unavailable_acs": codeAuthenticationFailed,
	"card_declined":                  codeCardDeclined,
	"card_expired":                   codeCardDeclined,
	"inactive_card":                  codeCardDeclined,
	"insufficient_funds":             codeInsufficientFunds,
	"invalid_card_holder_name":       codeCardDeclined,
	"invalid_card_number":            codeCardDeclined,
	"invalid_card_type":              codeCardDeclined,
	"invalid_cvv":                    codeCardDeclined,
	"possible_fraud":                 codeFraudSuspected,
	"refused_by_issuer":              codeCardDeclined,
}
