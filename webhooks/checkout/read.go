package checkout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// exponents names the currency with other digits at Checkout.com than in ISO 4217
// (https://www.checkout.com/docs/resources/calculating-the-amount): the Chilean peso is divided by 100 like all that
// the page does not list.
var exponents = map[string]int{"CLP": 2}

// rawEvent is the envelope; workflows have timestamp, older webhooks created_on.
type rawEvent struct {
	ID        read.Note       `json:"id"`
	Type      read.Note       `json:"type"`
	Timestamp json.RawMessage `json:"timestamp"`
	CreatedOn json.RawMessage `json:"created_on"`
	Data      json.RawMessage `json:"data"`
	Links     json.RawMessage `json:"_links"`
}

// eventData holds the fields read from a payment's action or from a dispute. A dispute has its own id.
type eventData struct {
	ID               string          `json:"id"`
	ActionID         string          `json:"action_id"`
	PaymentID        string          `json:"payment_id"`
	Reference        read.Note       `json:"reference"`
	PaymentReference read.Note       `json:"payment_reference"`
	Metadata         json.RawMessage `json:"metadata"`
	Amount           *read.Integer   `json:"amount"`
	Currency         read.Word       `json:"currency"`
	ResponseCode     read.Note       `json:"response_code"`
	Channel          read.Note       `json:"processing_channel_id"`
	Links            json.RawMessage `json:"event_links"`

	// Of a dispute.
	ReasonCode read.Note       `json:"reason_code"`
	Resolved   read.Note       `json:"resolved_reason"`
	EvidenceBy json.RawMessage `json:"evidence_required_by"`
}

func parse(body []byte) (webhooks.Event, error) {
	if !json.Valid(body) {
		body = repair(body)
	}
	var envelope rawEvent
	if err := read.JSON("event", body, &envelope); err != nil {
		return webhooks.Event{}, err
	}
	event := webhooks.Event{
		ID: string(envelope.ID), IDSource: webhooks.Native, Type: string(envelope.Type), OccurredAt: read.Time(envelope.Timestamp),
	}
	if event.OccurredAt.IsZero() {
		event.OccurredAt = read.Time(envelope.CreatedOn)
	}
	if event.ID == "" || event.Type == "" {
		return event, fmt.Errorf("%w: event without id or type", webhooks.ErrPayload)
	}
	event.Kind = kindOf(event.Type)
	if event.Kind == webhooks.KindIgnored {
		return event, nil
	}
	var data eventData
	if err := read.JSON("data of "+event.Type, envelope.Data, &data); err != nil {
		return event, err
	}
	event.Mode = cmp.Or(modeOf(envelope.Links), modeOf(data.Links))
	return data.fill(event)
}

// modeOf returns the mode of the API that the event links to, by its address
// (https://api-reference.checkout.com, "Base URLs"). The links are texts, or objects with one.
func modeOf(links json.RawMessage) webhooks.Mode {
	for _, raw := range read.Members(links) {
		to, err := url.Parse(cmp.Or(read.Text(raw), read.Text(read.Members(raw)["href"])))
		if host := "."; err == nil && strings.HasSuffix(host+to.Hostname(), ".checkout.com") {
			return read.ModeOf(strings.HasSuffix(host+to.Hostname(), ".sandbox.checkout.com"))
		}
	}
	return ""
}

// repair puts back the name in place of a broken character. It is tried only once, and only on a body that is not JSON. Any
// other fault stays.
func repair(body []byte) []byte {
	if !bytes.Contains(body, []byte(`"authentication_failed"`)) {
		return body
	}
	return bytes.Replace(body, []byte("\uFFFD"), []byte(`"data":`), 1)
}

// kindOf translates the types that are about a payment
// (https://www.checkout.com/docs/developer-resources/webhooks/webhook-event-types). A declined payment is final under
// its id; a declined void leaves the payment as it is. A dispute takes the money when evidence is required. The money stays
// taken until the dispute is won or cancelled (https://www.checkout.com/docs/dashboard/disputes).
func kindOf(eventType string) webhooks.Kind {
	switch eventType {
	case "payment_pending", "payment_void_declined":
		return webhooks.KindProcessing
	case "payment_approved":
		return webhooks.KindAuthorized
	case "payment_captured":
		return webhooks.KindSucceeded
	case "payment_capture_declined":
		return webhooks.KindSoftFailed
	case "payment_declined", "payment_canceled", "payment_voided", "payment_expired":
		return webhooks.KindFailed
	case "payment_returned":
		return webhooks.KindReversed
	case "dispute_evidence_required", "dispute_lost", "dispute_accepted", "dispute_expired", "dispute_arbitration_lost":
		return webhooks.KindChargeback
	case "dispute_won", "dispute_canceled", "dispute_arbitration_won":
		return webhooks.KindChargebackReversed
	case "payment_refund_pending":
		return webhooks.KindRefundPending
	case "payment_refunded":
		return webhooks.KindRefundSucceeded
	case "payment_refund_declined":
		return webhooks.KindRefundFailed
	case "dispute_received", "payment_chargeback", "dispute_evidence_submitted", "dispute_resolved":
		return webhooks.KindDisputed
	default:
		return webhooks.KindIgnored
	}
}

// sessionKey is where Checkout.com puts the id of the payment session of its Flow, in which the customer may try again: each
// try is a payment (https://www.checkout.com/docs/payments/accept-payments/accept-a-payment-on-your-website).
const sessionKey = "cko_payment_session_id"

func (c eventData) fill(e webhooks.Event) (webhooks.Event, error) {
	said := read.TextMembers(c.Metadata)
	if c.acceptedBefore(e.Type) {
		e.Kind = webhooks.KindChargeback
	}
	e.ProviderPaymentID, e.Container = cmp.Or(c.PaymentID, c.ID), said[sessionKey]
	e.Payee = string(c.Channel)
	e.References = read.References(said["payment_attempt_id"], string(c.PaymentReference), string(c.Reference), e.ProviderPaymentID, e.Container)
	e.PageOpen = e.Kind == webhooks.KindFailed && e.Type != "payment_voided" && e.Container != ""
	if strings.HasPrefix(e.Type, "payment_refund") {
		e.RefundID, e.RefundReference = c.ActionID, said["refund_id"]
	}
	switch {
	case e.Type == "payment_captured", e.Type == "payment_capture_declined":
		e.MovementID, e.CaptureReference = c.ActionID, string(c.Reference)
	case e.Kind == webhooks.KindReversed:
		e.MovementID = c.ActionID
	case e.Kind.IsMovement() && c.PaymentID != "":
		e.MovementID = c.ID // the dispute's
	}
	switch e.Type {
	case "payment_capture_declined":
		e.Refuses = webhooks.CommandCapture
	case "payment_void_declined":
		e.Refuses = webhooks.CommandCancel
	}
	if e.Kind.IsFailure() {
		e.FailureCode, e.ProviderCode = failure(e.Type, string(c.ResponseCode))
	}
	e, err := read.WithUnits(e, c.Amount, c.Currency, exponents)
	return c.withDispute(e), err
}

// acceptedBefore reports whether an event is about a dispute that was resolved before it was one: the merchant's rules
// accepted it, and the cardholder has the money back. It has no other event. A dispute that was resolved otherwise moves
// nothing, the payment was refunded before
// (https://www.checkout.com/docs/developer-resources/webhooks/webhook-event-types).
func (c eventData) acceptedBefore(eventType string) bool {
	return eventType == "dispute_resolved" && c.Resolved == "rapid_dispute_resolution"
}

// disputeStatuses translates the types that are about a dispute
// (https://www.checkout.com/docs/developer-resources/webhooks/webhook-event-types). A cancelled one was withdrawn.
var disputeStatuses = map[string]webhooks.DisputeStatus{
	"dispute_received":           webhooks.DisputeOpen,
	"dispute_evidence_required":  webhooks.DisputeOpen,
	"dispute_evidence_submitted": webhooks.DisputeUnderReview,
	"dispute_won":                webhooks.DisputeWon,
	"dispute_arbitration_won":    webhooks.DisputeWon,
	"dispute_canceled":           webhooks.DisputeWon,
	"dispute_lost":               webhooks.DisputeLost,
	"dispute_arbitration_lost":   webhooks.DisputeLost,
	"dispute_expired":            webhooks.DisputeLost,
	"dispute_accepted":           webhooks.DisputeAccepted,
	"dispute_resolved":           webhooks.DisputeWon, // or accepted, see acceptedBefore
}

// withDispute adds the dispute, which is named where the payment stands beside it. The names of its reason and its
// date are from memory (https://api-reference.checkout.com/#operation/getDisputeDetails).
func (c eventData) withDispute(e webhooks.Event) webhooks.Event {
	if c.PaymentID == "" {
		return e
	}
	status := disputeStatuses[e.Type]
	if c.acceptedBefore(e.Type) {
		status = webhooks.DisputeAccepted
	}
	return read.WithDispute(e, webhooks.Dispute{
		ID: c.ID, Status: status, Reason: string(c.ReasonCode), DueBy: read.Time(c.EvidenceBy),
	})
}

// codes translates response codes (https://www.checkout.com/docs/resources/codes/http-response-codes); those of 3-D
// Secure (2015x) and of lost and stolen cards (300xx) are from memory, and would otherwise be a declined card.
var codes = map[string]webhooks.FailureCode{
	"20051": webhooks.CodeInsufficientFunds,
	"20059": webhooks.CodeFraudSuspected,
	"20151": webhooks.CodeAuthenticationFailed,
	"20152": webhooks.CodeAuthenticationFailed,
	"20154": webhooks.CodeAuthenticationFailed,
	"20155": webhooks.CodeAuthenticationFailed,
	"30034": webhooks.CodeFraudSuspected,
	"30041": webhooks.CodeFraudSuspected,
	"30043": webhooks.CodeFraudSuspected,
}

// FailureCode returns paylatch's code and the one of Checkout.com to keep for the response code of a payment that was
// declined: 2xxxx and 3xxxx are the bank's refusals, 4xxxx those of risk rules.
func FailureCode(responseCode string) (ours webhooks.FailureCode, checkouts string) {
	class := webhooks.CodeProviderRejected
	switch {
	case strings.HasPrefix(responseCode, "2"), strings.HasPrefix(responseCode, "3"):
		class = webhooks.CodeCardDeclined
	case strings.HasPrefix(responseCode, "4"):
		class = webhooks.CodeFraudSuspected
	}
	return cmp.Or(codes[responseCode], class), responseCode
}

// failure returns paylatch's code and Checkout.com's for an event that is a failure.
func failure(eventType, responseCode string) (code webhooks.FailureCode, providerCode string) {
	switch eventType {
	case "payment_canceled", "payment_voided":
		return webhooks.CodeCanceled, responseCode
	case "payment_expired":
		return webhooks.CodeExpired, responseCode
	case "payment_refund_declined", "payment_capture_declined":
		return webhooks.CodeProviderRejected, responseCode
	default:
		return FailureCode(responseCode)
	}
}
