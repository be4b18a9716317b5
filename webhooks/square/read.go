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
	ID        string          `json:"event_id"`
	Type      string          `json:"type"`
	CreatedAt json.RawMessage `json:"created_at"`
	Data      struct {
		ID     string `json:"id"`
		Object struct {
			Payment *payment `json:"payment"`
			Refund  *refund  `json:"refund"`
			Dispute *dispute `json:"dispute"`
		} `json:"object"`
	} `json:"data"`
}

// amountData is an amount in the smallest unit of the currency, as ISO 4217 has it.
type amountData struct {
	Amount   *read.Integer `json:"amount"`
	Currency string        `json:"currency"`
}

type payment struct {
	ID          string      `json:"id"`
	Status      string      `json:"status"`
	ReferenceID string      `json:"reference_id"`
	OrderID     string      `json:"order_id"`
	Amount      amountData  `json:"amount_money"`
	Approved    *amountData `json:"approved_money"`
	Total       *amountData `json:"total_money"`
	Card        struct {
		Errors []struct {
			Code string `json:"code"`
		} `json:"errors"`
	} `json:"card_details"`
}

type refund struct {
	ID        string     `json:"id"`
	Status    string     `json:"status"`
	PaymentID string     `json:"payment_id"`
	OrderID   string     `json:"order_id"`
	Amount    amountData `json:"amount_money"`
}

type dispute struct {
	ID      string     `json:"id"`
	OldID   string     `json:"dispute_id"`
	State   string     `json:"state"`
	Amount  amountData `json:"amount_money"`
	Payment struct {
		ID string `json:"payment_id"`
	} `json:"disputed_payment"`
}

// parse reads an event. One without event_id, which only hand-made ones are, gets an id from its type, data.id and
// created_at.
func parse(body []byte) (webhooks.Event, error) {
	var envelope rawEvent
	if err := read.JSON("event", body, &envelope); err != nil {
		return webhooks.Event{}, err
	}
	event := webhooks.Event{
		ID: envelope.ID, IDSource: webhooks.Native, Type: envelope.Type, Kind: webhooks.KindIgnored,
		OccurredAt: read.Time(envelope.CreatedAt),
	}
	if event.ID == "" {
		event.ID = read.DerivedID(envelope.Type, envelope.Data.ID, read.Text(envelope.CreatedAt))
		event.IDSource = webhooks.Derived
	}
	object := envelope.Data.Object
	switch event.Type {
	case "payment.created", "payment.updated":
		return object.Payment.fill(event)
	case "refund.created", "refund.updated":
		return object.Refund.fill(event)
	case "dispute.created", "dispute.state.updated", "dispute.state.changed":
		return object.Dispute.fill(event)
	default:
		return event, nil
	}
}

func noObject(e webhooks.Event) error {
	return fmt.Errorf("%w: %s without its object", webhooks.ErrPayload, e.Type)
}

// fill reads a payment. COMPLETED has what was captured, a tip included.
func (p *payment) fill(e webhooks.Event) (webhooks.Event, error) {
	if p == nil {
		return webhooks.Event{}, noObject(e)
	}
	e.References = read.References(p.ReferenceID, p.ID, p.OrderID)
	e.ProviderPaymentID = p.ID
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
	default:
		return e, nil
	}
	return read.WithUnits(e, amount.Amount, amount.Currency, nil)
}

// codes translates the codes of card_details.errors (https://developer.squareup.com/reference/square/enums/ErrorCode).
var codes = map[string]string{
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
func FailureCode(errorCode string) (ours, squares string) {
	return cmp.Or(codes[errorCode], webhooks.CodeCardDeclined), errorCode
}

// failure takes the first error of the card; without any, there is no reason.
func (p *payment) failure() (code, providerCode string) {
	if len(p.Card.Errors) == 0 {
		return webhooks.CodeProviderRejected, ""
	}
	return FailureCode(p.Card.Errors[0].Code)
}

func (r *refund) fill(e webhooks.Event) (webhooks.Event, error) {
	if r == nil {
		return webhooks.Event{}, noObject(e)
	}
	e.References = read.References(r.PaymentID, r.OrderID)
	e.ProviderPaymentID, e.RefundID = r.PaymentID, r.ID
	switch r.Status {
	case "PENDING", "APPROVED":
		e.Kind = webhooks.KindRefundPending
	case "COMPLETED":
		e.Kind = webhooks.KindRefundSucceeded
	case "REJECTED", "FAILED":
		e.Kind, e.FailureCode, e.ProviderCode = webhooks.KindRefundFailed, webhooks.CodeProviderRejected, r.Status
	default:
		return e, nil
	}
	return read.WithUnits(e, r.Amount.Amount, r.Amount.Currency, nil)
}

// fill reads a dispute. Square takes the money when a dispute reaches it, keeps it while that is open, and returns it
// when it is won (https://squareup.com/help/us/en/article/5224-resolving-disputes-faqs). An inquiry only puts it at
// stake, and one that is closed does not any more.
func (p *dispute) fill(e webhooks.Event) (webhooks.Event, error) {
	if p == nil {
		return webhooks.Event{}, noObject(e)
	}
	e.References = read.References(p.Payment.ID)
	e.ProviderPaymentID = p.Payment.ID
	switch p.State {
	case "INQUIRY_CLOSED":
		return e, nil
	case "WON":
		e.Kind, e.MovementID = webhooks.KindChargebackReversed, cmp.Or(p.ID, p.OldID)
	case "EVIDENCE_REQUIRED", "PROCESSING", "LOST", "ACCEPTED":
		e.Kind, e.MovementID = webhooks.KindChargeback, cmp.Or(p.ID, p.OldID)
	default:
		e.Kind = webhooks.KindDisputed
	}
	return read.WithUnits(e, p.Amount.Amount, p.Amount.Currency, nil)
}
