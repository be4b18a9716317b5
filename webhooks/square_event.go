package webhooks

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// squareEvent is the envelope
// (https://developer.squareup.com/docs/webhooks/overview).
type squareEvent struct {
	ID        string          `json:"event_id"`
	Type      string          `json:"type"`
	CreatedAt json.RawMessage `json:"created_at"`
	Data      struct {
		ID     string `json:"id"`
		Object struct {
			Payment *squarePayment `json:"payment"`
			Refund  *squareRefund  `json:"refund"`
			Dispute *squareDispute `json:"dispute"`
		} `json:"object"`
	} `json:"data"`
}

// squareMoney is an amount in the smallest unit of the currency, as ISO 4217 has
// it.
type squareMoney struct {
	Amount   *integer `json:"amount"`
	Currency string   `json:"currency"`
}

type squarePayment struct {
	ID          string       `json:"id"`
	Status      string       `json:"status"`
	ReferenceID string       `json:"reference_id"`
	OrderID     string       `json:"order_id"`
	Amount      squareMoney  `json:"amount_money"`
	Approved    *squareMoney `json:"approved_money"`
	Total       *squareMoney `json:"total_money"`
	Card        struct {
		Errors []struct {
			Code string `json:"code"`
		} `json:"errors"`
	} `json:"card_details"`
}

type squareRefund struct {
	ID        string      `json:"id"`
	Status    string      `json:"status"`
	PaymentID string      `json:"payment_id"`
	OrderID   string      `json:"order_id"`
	Amount    squareMoney `json:"amount_money"`
}

type squareDispute struct {
	ID      string      `json:"id"`
	OldID   string      `json:"dispute_id"`
	State   string      `json:"state"`
	Amount  squareMoney `json:"amount_money"`
	Payment struct {
		ID string `json:"payment_id"`
	} `json:"disputed_payment"`
}

// parseSquare reads an event. One without event_id, which only hand-made ones
// are, gets an id from its type, data.id and created_at.
func parseSquare(body []byte) (Event, error) {
	var envelope squareEvent
	if err := decode("event", body, &envelope); err != nil {
		return Event{}, err
	}
	event := Event{
		ID: envelope.ID, IDSource: Native, Type: envelope.Type, Kind: KindIgnored,
		OccurredAt: jsonTime(envelope.CreatedAt),
	}
	if event.ID == "" {
		event.ID = derivedID(envelope.Type, envelope.Data.ID, jsonText(envelope.CreatedAt))
		event.IDSource = Derived
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

func noSquareObject(e Event) error {
	return fmt.Errorf("%w: %s without its object", ErrPayload, e.Type)
}

// fill reads a payment. COMPLETED says what was taken, a tip included.
func (p *squarePayment) fill(e Event) (Event, error) {
	if p == nil {
		return Event{}, noSquareObject(e)
	}
	e.References = references(p.ReferenceID, p.ID, p.OrderID)
	e.ProviderPaymentID = p.ID
	amount := &p.Amount
	switch p.Status {
	case "PENDING":
		e.Kind = KindProcessing
	case "APPROVED":
		e.Kind, amount = KindAuthorized, cmp.Or(p.Approved, amount)
	case "COMPLETED":
		e.Kind, amount = KindSucceeded, cmp.Or(p.Total, amount)
	case "CANCELED":
		e.Kind, e.FailureCode = KindFailed, codeCanceled
	case "FAILED":
		e.Kind = KindFailed
		e.FailureCode, e.ProviderCode = p.failure()
	default:
		return e, nil
	}
	return e.withMoney(amount.money())
}

// squareCodes translates the codes of card_details.errors
// (https://developer.squareup.com/reference/square/enums/ErrorCode).
var squareCodes = map[string]string{
	"INSUFFICIENT_FUNDS":                  codeInsufficientFunds,
	"CARD_DECLINED_VERIFICATION_REQUIRED": codeAuthenticationFailed,
	"DELAYED_TRANSACTION_EXPIRED":         codeExpired,
	"CHECKOUT_EXPIRED":                    codeExpired,
	"BUYER_REFUSED_PAYMENT":               codeCanceled,
	"DELAYED_TRANSACTION_CANCELED":        codeCanceled,
	"TEMPORARY_ERROR":                     codeProviderRejected,
	"INTERNAL_SERVER_ERROR":               codeProviderRejected,
	"GATEWAY_TIMEOUT":                     codeProviderRejected,
}

// SquareFailureCode returns paylatch's code and the one of Square to keep for the
// error of a card. One that is not in the table is the bank's or the card's refusal.
func SquareFailureCode(errorCode string) (ours, squares string) {
	return cmp.Or(squareCodes[errorCode], codeCardDeclined), errorCode
}

// failure takes the first error of the card; without any, the reason is not known.
func (p *squarePayment) failure() (code, providerCode string) {
	if len(p.Card.Errors) == 0 {
		return codeProviderRejected, ""
	}
	return SquareFailureCode(p.Card.Errors[0].Code)
}

func (r *squareRefund) fill(e Event) (Event, error) {
	if r == nil {
		return Event{}, noSquareObject(e)
	}
	e.References = references(r.PaymentID, r.OrderID)
	e.ProviderPaymentID, e.RefundID = r.PaymentID, r.ID
	switch r.Status {
	case "PENDING", "APPROVED":
		e.Kind = KindRefundPending
	case "COMPLETED":
		e.Kind = KindRefundSucceeded
	case "REJECTED", "FAILED":
		e.Kind, e.FailureCode, e.ProviderCode = KindRefundFailed, codeProviderRejected, r.Status
	default:
		return e, nil
	}
	return e.withMoney(r.Amount.money())
}

// fill reads a dispute. Square takes the money when it is told of a dispute, keeps it
// while that is open, and returns it when it is won
// (https://squareup.com/help/us/en/article/5224-resolving-disputes-faqs). An inquiry
// only puts it at stake, and one that is closed does not any more.
func (p *squareDispute) fill(e Event) (Event, error) {
	if p == nil {
		return Event{}, noSquareObject(e)
	}
	e.References = references(p.Payment.ID)
	e.ProviderPaymentID = p.Payment.ID
	switch p.State {
	case "INQUIRY_CLOSED":
		return e, nil
	case "WON":
		e.Kind, e.MovementID = KindChargebackReversed, cmp.Or(p.ID, p.OldID)
	case "EVIDENCE_REQUIRED", "PROCESSING", "LOST", "ACCEPTED":
		e.Kind, e.MovementID = KindChargeback, cmp.Or(p.ID, p.OldID)
	default:
		e.Kind = KindDisputed
	}
	return e.withMoney(p.Amount.money())
}

func (m squareMoney) money() (*Money, error) { return moneyIn(m.Amount, m.Currency, nil) }
