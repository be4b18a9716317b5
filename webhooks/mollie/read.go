package mollie

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

func readEvent(d webhooks.Delivery) (webhooks.Event, error) {
	if read.IsObject(d.Body) {
		return parse(d.Body)
	}
	return parseClassic(d)
}

// idForm is the form of Mollie's ids. They end up in the path of a call.
const idForm = `[A-Za-z]{1,16}_[A-Za-z0-9]{1,64}`

var (
	idPattern   = regexp.MustCompile(`^` + idForm + `$`)
	partPattern = regexp.MustCompile(`/v2/payments/(` + idForm + `)/`)
)

func parseClassic(d webhooks.Delivery) (webhooks.Event, error) {
	form, err := read.Form(string(d.Body), read.Only("id"))
	if err != nil {
		return webhooks.Event{}, fmt.Errorf("%w: %w", webhooks.ErrPayload, err)
	}
	id := form["id"]
	if !idPattern.MatchString(id) {
		return webhooks.Event{}, fmt.Errorf("%w: form without an id of Mollie's", webhooks.ErrPayload)
	}
	return notice(d, id), nil
}

// paymentPrefix is that of the ids of payments. Payment links (pl_…) and orders (ord_…) are containers of payments.
const paymentPrefix = "tr_"

// notice is a classic notice: of a payment, or of a container.
func notice(d webhooks.Delivery, id string) webhooks.Event {
	e := read.Notice(d, id)
	if !strings.HasPrefix(id, paymentPrefix) {
		e.ProviderPaymentID, e.Container = "", id
	}
	return e
}

// rawEvent is the envelope of the next generation (https://docs.mollie.com/reference/get-webhook-event). Embedded is
// there only if the webhook was set up to carry a snapshot.
type rawEvent struct {
	ID        read.Note       `json:"id"`
	Type      read.Note       `json:"type"`
	EntityID  read.Note       `json:"entityId"`
	CreatedAt json.RawMessage `json:"createdAt"`
	Embedded  json.RawMessage `json:"_embedded"`
	Links     json.RawMessage `json:"_links"`
}

// snapshot holds the fields read from a payment, refund, capture or chargeback.
type snapshot struct {
	Mode           read.Word       `json:"mode"`
	ProfileID      read.Note       `json:"profileId"`
	OrderID        read.Note       `json:"orderId"`
	PaymentID      read.Note       `json:"paymentId"`
	Metadata       json.RawMessage `json:"metadata"`
	Amount         amountData      `json:"amount"`
	AmountCaptured amountData      `json:"amountCaptured"`
	Details        json.RawMessage `json:"details"`
	StatusReason   json.RawMessage `json:"statusReason"`
	// Reason is that of a chargeback.
	Reason json.RawMessage `json:"reason"`
}

// amountData is an object with the members value and currency.
type amountData json.RawMessage

// UnmarshalJSON implements json.Unmarshaler.
func (a *amountData) UnmarshalJSON(raw []byte) error {
	*a = slices.Clone(raw)
	return nil
}

func (a amountData) money() (*webhooks.Money, error) {
	raw := json.RawMessage(a)
	return read.Decimal(read.TextAt(raw, "value"), read.TextAt(raw, "currency"))
}

// parse reads a signed event. The event's type decides its kind. Without a snapshot it has neither amount nor the merchant's
// reference, and needs a fetch; the payment is then in the address of the refund, capture or chargeback, as in
// /v2/payments/tr_1/refunds/re_1.
func parse(body []byte) (webhooks.Event, error) {
	var envelope rawEvent
	if err := read.JSON("event", body, &envelope); err != nil {
		return webhooks.Event{}, err
	}
	event := webhooks.Event{
		ID: string(envelope.ID), IDSource: webhooks.Native, Type: string(envelope.Type), OccurredAt: read.Time(envelope.CreatedAt),
	}
	if event.ID == "" {
		return event, fmt.Errorf("%w: event without id", webhooks.ErrPayload)
	}
	event.Kind, event.FailureCode = kindOf(event.Type)
	if event.Kind == webhooks.KindIgnored {
		return event, nil
	}
	if !idPattern.MatchString(string(envelope.EntityID)) {
		return event, fmt.Errorf("%w: %s without an entityId of Mollie's", webhooks.ErrPayload, event.Type)
	}
	var entity snapshot
	// Without a snapshot that can be read there is none, and the event needs a fetch.
	read.Loosely(read.Members(envelope.Embedded)["entity"], &entity)
	if of := partPattern.FindStringSubmatch(read.TextAt(envelope.Links, "entity", "href")); of != nil {
		entity.PaymentID = cmp.Or(entity.PaymentID, read.Note(of[1]))
	}
	return entity.fill(event, string(envelope.EntityID))
}

const (
	captureFailed = "capture.failed"
	// linkPaid names the link, and not the payment that was made by it, which is looked up.
	linkPaid = "payment-link.paid"
)

// kindOf translates the types that are about a payment, with paylatch's code for a failure. failed, canceled and
// expired are final at Mollie: the payment can't be tried again by another method.
func kindOf(eventType string) (kind webhooks.Kind, failureCode webhooks.FailureCode) {
	switch eventType {
	case "payment.pending":
		return webhooks.KindProcessing, ""
	case "payment.authorized", captureFailed: // the hold stands
		return webhooks.KindAuthorized, ""
	case "payment.paid", linkPaid, "capture.succeeded":
		return webhooks.KindSucceeded, ""
	case "payment.failed":
		return webhooks.KindFailed, webhooks.CodeProviderRejected
	case "payment.canceled":
		return webhooks.KindFailed, webhooks.CodeCanceled
	case "payment.expired":
		return webhooks.KindFailed, webhooks.CodeExpired
	case "refund.queued", "refund.pending", "refund.processing":
		return webhooks.KindRefundPending, ""
	case "refund.refunded":
		return webhooks.KindRefundSucceeded, ""
	case "refund.failed":
		return webhooks.KindRefundFailed, webhooks.CodeProviderRejected
	case "refund.canceled":
		return webhooks.KindRefundFailed, webhooks.CodeCanceled
	case "chargeback.received":
		return webhooks.KindChargeback, ""
	case "chargeback.reversed":
		return webhooks.KindChargebackReversed, ""
	case "dispute.created", "dispute.updated":
		return webhooks.KindDisputed, ""
	default:
		return webhooks.KindIgnored, ""
	}
}

func (m snapshot) fill(e webhooks.Event, id string) (webhooks.Event, error) {
	said := read.TextMembers(m.Metadata)
	e.ProviderPaymentID, e.Container, e.Payee = string(m.PaymentID), string(m.OrderID), string(m.ProfileID)
	switch {
	case strings.HasPrefix(e.Type, "payment."):
		e.ProviderPaymentID = id
	case e.Type == linkPaid:
		e.ProviderPaymentID, e.Container = "", id
	}
	e.References = read.References(said["payment_attempt_id"], e.ProviderPaymentID, e.Container)
	if strings.HasPrefix(e.Type, "refund.") {
		e.RefundID, e.RefundReference = id, said["refund_id"]
	}
	if e.Kind.IsMovement() {
		e.MovementID = id
	}
	if e.Type == "payment.failed" {
		reason := cmp.Or(read.TextMembers(m.Details)["failureReason"], read.TextMembers(m.StatusReason)["code"])
		e.FailureCode, e.ProviderCode = FailureCode(reason)
	}
	e.Mode = read.ModeText(string(m.Mode), "test", "live")
	if e.Type == captureFailed {
		e.Refuses, e.NeedsFetch = webhooks.CommandCapture, e.ProviderPaymentID == ""
		return e, nil // the amount is the capture's, not the held amount
	}
	money, err := m.money(e.Type)
	e, err = read.WithMoney(e, money, err)
	e.NeedsFetch = e.Money == nil || e.Type == linkPaid
	return m.withDispute(e), err
}

// withDispute adds the dispute behind a chargeback. It can't be answered at Mollie: it is lost unless it is reversed
// (https://docs.mollie.com/reference/get-chargeback).
func (m snapshot) withDispute(e webhooks.Event) webhooks.Event {
	statuses := map[webhooks.Kind]webhooks.DisputeStatus{
		webhooks.KindChargeback: webhooks.DisputeLost, webhooks.KindChargebackReversed: webhooks.DisputeWon,
	}
	return read.WithDispute(e, webhooks.Dispute{ID: e.MovementID, Status: statuses[e.Kind], Reason: read.TextAt(m.Reason, "code")})
}

// money returns the event's amount. A payment is also paid if only a part was captured and the rest was given up: its
// amount field stays the original amount.
func (m snapshot) money(eventType string) (*webhooks.Money, error) {
	if eventType == "payment.paid" {
		captured, err := m.AmountCaptured.money()
		if err != nil || captured != nil && captured.Minor > 0 {
			return captured, err
		}
	}
	return m.Amount.money()
}

// FailureCode returns paylatch's code and the one of Mollie to keep for the reason of a failure
// (https://docs.mollie.com/reference/get-payment, "failureReason").
func FailureCode(reason string) (ours webhooks.FailureCode, mollies string) {
	return cmp.Or(reasons[reason], webhooks.CodeProviderRejected), reason
}

var reasons = map[string]webhooks.FailureCode{
	"authentication_abandoned":       webhooks.CodeAuthenticationFailed,
	"authentication_failed":          webhooks.CodeAuthenticationFailed,
	"authentication_required":        webhooks.CodeAuthenticationFailed,
	"authentication_unavailable_acs": webhooks.CodeAuthenticationFailed,
	"card_declined":                  webhooks.CodeCardDeclined,
	"card_expired":                   webhooks.CodeCardDeclined,
	"inactive_card":                  webhooks.CodeCardDeclined,
	"insufficient_funds":             webhooks.CodeInsufficientFunds,
	"invalid_card_holder_name":       webhooks.CodeCardDeclined,
	"invalid_card_number":            webhooks.CodeCardDeclined,
	"invalid_card_type":              webhooks.CodeCardDeclined,
	"invalid_cvv":                    webhooks.CodeCardDeclined,
	"possible_fraud":                 webhooks.CodeFraudSuspected,
	"refused_by_issuer":              webhooks.CodeCardDeclined,
}
