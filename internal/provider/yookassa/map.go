package yookassa

import (
	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	hooks "github.com/paylatch/paylatch/webhooks/yookassa"
)

type amount struct {
	Value    string `json:"value"`
	Currency string `json:"currency"`
}

func (a amount) money() (*payment.Money, error) { return kit.ReadDecimal(a.Value, a.Currency) }

// object is YooKassa's view of a payment (https://yookassa.ru/developers/api#payment_object). Its amount is the held
// amount, and after the capture the captured amount.
type object struct {
	ID                  string            `json:"id"`
	Status              string            `json:"status"`
	Test                *bool             `json:"test"`
	Recipient           recipient         `json:"recipient"`
	Invoice             invoice           `json:"invoice_details"`
	Amount              amount            `json:"amount"`
	Refunded            *amount           `json:"refunded_amount"` // set if there are successful refunds
	Metadata            map[string]string `json:"metadata"`
	Confirmation        waiting           `json:"confirmation"`
	Method              method            `json:"payment_method"`
	CancellationDetails cancellation      `json:"cancellation_details"`
}

type recipient struct {
	AccountID string `json:"account_id"`
}

// invoice is the invoice of a payment, a container. It is empty for a payment without an invoice.
type invoice struct {
	ID string `json:"id"`
}

type cancellation struct {
	Reason string `json:"reason"`
}

// outcome maps a payment by its status
// (https://yookassa.ru/developers/payment-acceptance/getting-started/payment-process#lifecycle).
// An unrecognized status is processing.
func outcome(p object) (gateway.Outcome, error) {
	if p.ID == "" || p.Status == "" {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{ProviderPaymentID: p.ID, Container: p.Invoice.ID, Payee: p.Recipient.AccountID, Event: fsm.EventProcessing}
	if p.Test != nil {
		o.Live = new(!*p.Test)
	}
	for _, name := range []string{p.Metadata["payment_attempt_id"], p.Invoice.ID} {
		if name != "" {
			o.References = append(o.References, name)
		}
	}
	var err error
	switch p.Status {
	case "pending":
		if next := p.Confirmation.action(); next != nil {
			o.Event, o.NextAction = fsm.EventActionRequired, next
		}
	case "waiting_for_capture":
		o.Event, o.Saved = fsm.EventAuthorized, p.Method.saved()
		o.Money, err = p.Amount.money()
	case "succeeded":
		o.Event, o.Saved = fsm.EventSucceeded, p.Method.saved()
		o.Money, err = p.Amount.money()
	case "canceled":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure(hooks.FailureCode(p.CancellationDetails.Reason))
	}
	return o, err
}

// refund is YooKassa's view of a refund (https://yookassa.ru/developers/api#refund_object).
type refund struct {
	ID                  string            `json:"id"`
	PaymentID           string            `json:"payment_id"`
	Status              string            `json:"status"`
	Amount              amount            `json:"amount"`
	Metadata            map[string]string `json:"metadata"`
	CancellationDetails cancellation      `json:"cancellation_details"`
}

func refundOutcome(r refund) (gateway.RefundOutcome, error) {
	if r.ID == "" || r.Status == "" {
		return gateway.RefundOutcome{}, errNameless
	}
	o := gateway.RefundOutcome{ProviderRefundID: r.ID, Reference: r.Metadata["refund_id"], Event: fsm.EventProcessing}
	switch r.Status {
	case "succeeded":
		o.Event = fsm.EventSucceeded
	case "canceled":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("provider_rejected", r.CancellationDetails.Reason)
	}
	var err error
	o.Money, err = r.Amount.money()
	return o, err
}
