package square

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// rawEvent is the envelope (https://developer.squareup.com/docs/webhooks/overview).
type rawEvent struct {
	ID        read.Note       `json:"event_id"`
	Type      read.Note       `json:"type"`
	CreatedAt json.RawMessage `json:"created_at"`
	Merchant  read.Note       `json:"merchant_id"`
	Data      json.RawMessage `json:"data"`
}

// amountData is an amount in the smallest unit of the currency, as ISO 4217 has it. One of another form has a currency
// that is none.
type amountData struct {
	Amount   *read.Integer `json:"amount"`
	Currency read.Word     `json:"currency"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *amountData) UnmarshalJSON(raw []byte) error {
	type plain amountData
	var members plain
	if json.Unmarshal(raw, &members) != nil {
		members.Currency = read.Word(raw)
	}
	*a = amountData(members)
	return nil
}

type payment struct {
	ID          string      `json:"id"`
	Status      string      `json:"status"`
	ReferenceID read.Note   `json:"reference_id"`
	OrderID     read.Note   `json:"order_id"`
	Amount      amountData  `json:"amount_money"`
	Approved    *amountData `json:"approved_money"`
	Total       *amountData `json:"total_money"`
	Card        read.Optional[struct {
		Errors []struct {
			Code string `json:"code"`
		} `json:"errors"`
	}] `json:"card_details"`
}

type refund struct {
	ID        string     `json:"id"`
	Status    string     `json:"status"`
	PaymentID string     `json:"payment_id"`
	OrderID   read.Note  `json:"order_id"`
	Amount    amountData `json:"amount_money"`
}

type dispute struct {
	ID      string          `json:"id"`
	OldID   read.Note       `json:"dispute_id"`
	State   string          `json:"state"`
	Reason  read.Note       `json:"reason"`
	DueAt   json.RawMessage `json:"due_at"`
	Amount  amountData      `json:"amount_money"`
	Payment read.Optional[struct {
		ID string `json:"payment_id"`
	}] `json:"disputed_payment"`
}

// parse reads an event. One without event_id, which only hand-made ones are, gets an id from its type, data.id and
// created_at.
func parse(body []byte) (webhooks.Event, error) {
	var envelope rawEvent
	if err := read.JSON("event", body, &envelope); err != nil {
		return webhooks.Event{}, err
	}
	event := webhooks.Event{
		ID: string(envelope.ID), IDSource: webhooks.Native, Type: string(envelope.Type), Kind: webhooks.KindIgnored,
		OccurredAt: read.Time(envelope.CreatedAt), Payee: string(envelope.Merchant),
	}
	data := read.Members(envelope.Data)
	if event.ID == "" {
		event.ID = read.DerivedID(event.Type, read.Text(data["id"]), read.Text(envelope.CreatedAt))
		event.IDSource = webhooks.Derived
	}
	if event.Type == "" {
		return event, fmt.Errorf("%w: event without a type", webhooks.ErrPayload)
	}
	object := read.Members(data["object"])
	switch event.Type {
	case "payment.created", "payment.updated":
		return fill[payment](event, object["payment"])
	case "refund.created", "refund.updated":
		return fill[refund](event, object["refund"])
	case "dispute.created", "dispute.state.updated", "dispute.state.changed":
		return fill[dispute](event, object["dispute"])
	case "card.updated", "card.automatically_updated", "card.disabled", "card.forgotten":
		return fill[card](event, object["card"])
	default:
		return event, nil
	}
}

type filler interface {
	fill(e webhooks.Event) (webhooks.Event, error)
}

// fill adds the object's fields to an event.
func fill[T filler](e webhooks.Event, raw json.RawMessage) (webhooks.Event, error) {
	var object T
	if err := read.JSON("object of "+e.Type, raw, &object); err != nil {
		return e, err
	}
	return object.fill(e)
}

// noStatus returns the error of an object without a status.
func noStatus(e webhooks.Event) error {
	return fmt.Errorf("%w: %s without a status", webhooks.ErrPayload, e.Type)
}

// fill reads a payment. COMPLETED has the captured amount, a tip included.
func (p payment) fill(e webhooks.Event) (webhooks.Event, error) {
	e.References = read.References(string(p.ReferenceID), p.ID, string(p.OrderID))
	e.ProviderPaymentID, e.Container = p.ID, string(p.OrderID)
	amount := &p.Amount
	switch p.Status {
	case "PENDING":
		e.Kind = webhooks.KindProcessing
	case "APPROVED":
		e.Kind, amount = webhooks.KindAuthorized, cmp.Or(p.Approved, amount)
	case "COMPLETED":
		e.Kind, amount = webhooks.KindSucceeded, cmp.Or(p.Total, amount)
	case "CANCELED":
		e.Kind, e.FailureCode = webhooks.KindFailed, webhooks.CodeCanceled
	case "FAILED":
		e.Kind = webhooks.KindFailed
		e.FailureCode, e.ProviderCode = p.failure()
	case "":
		return e, noStatus(e)
	default:
		return e, nil
	}
	return read.WithUnits(e, amount.Amount, amount.Currency, nil)
}

// codes translates the codes of card_details.errors (https://developer.squareup.com/reference/square/enums/ErrorCode).
var codes = map[string]webhooks.FailureCode{
	"INSUFFICIENT_FUNDS":                  webhooks.CodeInsufficientFunds,
	"CARD_DECLINED_VERIFICATION_REQUIRED": webhooks.CodeAuthenticationFailed,
	"DELAYED_TRANSACTION_EXPIRED":         webhooks.CodeExpired,
	"CHECKOUT_EXPIRED":                    webhooks.CodeExpired,
	"BUYER_REFUSED_PAYMENT":               webhooks.CodeCanceled,
	"DELAYED_TRANSACTION_CANCELED":        webhooks.CodeCanceled,
	"TEMPORARY_ERROR":                     webhooks.CodeProviderRejected,
	"INTERNAL_SERVER_ERROR":               webhooks.CodeProviderRejected,
	"GATEWAY_TIMEOUT":                     webhooks.CodeProviderRejected,
}

// FailureCode returns paylatch's code and the one of Square to keep for the error of a card. One that is not in the
// table is the bank's or the card's refusal.
func FailureCode(errorCode string) (ours webhooks.FailureCode, squares string) {
	return cmp.Or(codes[errorCode], webhooks.CodeCardDeclined), errorCode
}

// failure takes the first error of the card; without any, there is no reason.
func (p payment) failure() (code webhooks.FailureCode, providerCode string) {
	if len(p.Card.Value.Errors) == 0 {
		return webhooks.CodeProviderRejected, ""
	}
	return FailureCode(p.Card.Value.Errors[0].Code)
}

func (r refund) fill(e webhooks.Event) (webhooks.Event, error) {
	e.References = read.References(r.PaymentID, string(r.OrderID))
	e.ProviderPaymentID, e.RefundID = r.PaymentID, r.ID
	switch r.Status {
	case "PENDING", "APPROVED":
		e.Kind = webhooks.KindRefundPending
	case "COMPLETED":
		e.Kind = webhooks.KindRefundSucceeded
	case "REJECTED", "FAILED":
		e.Kind, e.FailureCode, e.ProviderCode = webhooks.KindRefundFailed, webhooks.CodeProviderRejected, r.Status
	case "":
		return e, noStatus(e)
	default:
		return e, nil
	}
	return read.WithUnits(e, r.Amount.Amount, r.Amount.Currency, nil)
}

// DisputeKind returns the meaning of a dispute's state for the money. Square takes the money when a dispute arrives, keeps
// the money while the dispute is open, and returns the money when the dispute is won
// (https://squareup.com/help/us/en/article/5224-resolving-disputes-faqs). An inquiry only puts the money at stake; a closed
// inquiry does not.
func DisputeKind(state string) webhooks.Kind {
	switch state {
	case "WON":
		return webhooks.KindChargebackReversed
	case "EVIDENCE_REQUIRED", "PROCESSING", "LOST", "ACCEPTED":
		return webhooks.KindChargeback
	default:
		return webhooks.KindDisputed
	}
}

func (p dispute) fill(e webhooks.Event) (webhooks.Event, error) {
	e.References = read.References(p.Payment.Value.ID)
	e.ProviderPaymentID = p.Payment.Value.ID
	id := cmp.Or(p.ID, string(p.OldID))
	if p.State == "" {
		return e, noStatus(e)
	}
	if e.Kind = DisputeKind(p.State); e.Kind.IsMovement() {
		e.MovementID = id
	}
	e, err := read.WithUnits(e, p.Amount.Amount, p.Amount.Currency, nil)
	return read.WithDispute(e, webhooks.Dispute{
		ID: id, Status: disputeStatuses[p.State], Reason: string(p.Reason), DueBy: read.Time(p.DueAt),
	}), err
}

// disputeStatuses translates the states of a dispute
// (https://developer.squareup.com/reference/square/enums/DisputeState). An inquiry that is closed has cost nothing.
var disputeStatuses = map[string]webhooks.DisputeStatus{
	"INQUIRY_EVIDENCE_REQUIRED": webhooks.DisputeWarning,
	"INQUIRY_PROCESSING":        webhooks.DisputeWarning,
	"INQUIRY_CLOSED":            webhooks.DisputeWon,
	"EVIDENCE_REQUIRED":         webhooks.DisputeOpen,
	"PROCESSING":                webhooks.DisputeUnderReview,
	"WON":                       webhooks.DisputeWon,
	"LOST":                      webhooks.DisputeLost,
	"ACCEPTED":                  webhooks.DisputeAccepted,
}
