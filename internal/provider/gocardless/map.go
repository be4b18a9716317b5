package gocardless

import (
	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// digits are the decimals of ISO 4217. Amounts are in the lowest denomination of the currency.
var digits = kit.Digits{} //nolint:gochecknoglobals // a table

// debit is GoCardless's view of a payment
// (https://developer.gocardless.com/api-reference/#core-endpoints-payments).
type debit struct {
	ID              string            `json:"id"`
	Status          string            `json:"status"`
	Amount          int64             `json:"amount"`
	AmountRefunded  int64             `json:"amount_refunded"`
	Currency        string            `json:"currency"`
	Metadata        map[string]string `json:"metadata"`
	RetryIfPossible bool              `json:"retry_if_possible"`
}

// outcome maps a payment by its status. A submitted debit can't be stopped, so it is processing. A chargeback takes the
// whole payment. If the chargeback is cancelled, no status shows it any more. A failure may come after the confirmation.
// The failure is not final if GoCardless may collect the payment again.
func outcome(p debit) (gateway.Outcome, error) {
	if p.ID == "" || p.Status == "" {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{ProviderPaymentID: p.ID, Event: fsm.EventProcessing}
	if ours := p.Metadata[attemptName]; ours != "" {
		o.References = []string{ours}
	}
	var err error
	switch p.Status {
	case "pending_customer_approval":
		o.Event = fsm.EventActionRequired
	case "confirmed", "paid_out", "charged_back":
		err = p.taken(&o)
	case "failed":
		o.Event, o.Failure, o.Reverses = fsm.EventFailed, payment.NewFailure("provider_rejected", ""), true
		if p.RetryIfPossible {
			o.Event = fsm.EventSoftFailed
		}
	case "cancelled", "customer_approval_denied":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("canceled", "")
	}
	return o, err
}

// taken sets the amount of a collected payment, and its chargeback.
func (p debit) taken(o *gateway.Outcome) error {
	o.Event = fsm.EventSucceeded
	var err error
	if o.Money, err = digits.Money(p.Amount, p.Currency); err != nil {
		return err
	}
	if p.Status == "charged_back" {
		o.Movements = []payment.MovementReport{{Kind: payment.MovementChargeback, Money: *o.Money}}
	}
	return nil
}

// refund is GoCardless's view of a refund
// (https://developer.gocardless.com/api-reference/#core-endpoints-refunds).
type refund struct {
	ID       string            `json:"id"`
	Status   string            `json:"status"`
	Amount   int64             `json:"amount"`
	Currency string            `json:"currency"`
	Metadata map[string]string `json:"metadata"`
	Links    struct {
		Payment string `json:"payment"`
	} `json:"links"`
}

func refundOutcome(r refund) (gateway.RefundOutcome, error) {
	if r.ID == "" || r.Status == "" || r.Links.Payment == "" {
		return gateway.RefundOutcome{}, errNameless
	}
	o := gateway.RefundOutcome{
		ProviderRefundID: r.ID, ProviderPaymentID: r.Links.Payment, Reference: r.Metadata[refundName], Event: fsm.EventProcessing,
	}
	switch r.Status {
	case "paid":
		o.Event = fsm.EventSucceeded
	case "cancelled":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("canceled", "")
	case "failed", "bounced", "funds_returned":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("provider_rejected", r.Status)
	}
	var err error
	o.Money, err = digits.Money(r.Amount, r.Currency)
	return o, err
}
