package tbank

import (
	"slices"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	hooks "github.com/paylatch/paylatch/webhooks/tbank"
)

// outcome maps a payment by its status
// (https://www.tbank.ru/kassa/dev/payments/#tag/Scenarii-oplaty-po-karte/Statusnaya-model-platezha).
func (c *Client) outcome(a answer) (gateway.Outcome, error) {
	if a.PaymentID == "" || a.Status == "" {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{ProviderPaymentID: string(a.PaymentID), Payee: a.TerminalKey, Event: standing(a.Status)}
	if strings.HasSuffix(a.TerminalKey, "DEMO") { // other terminals may belong to the test host too
		o.Live = new(false)
	}
	switch a.Status {
	case "AUTHORIZED", "PARTIAL_REVERSED", "CONFIRMED":
		o.Money = c.money(a.Amount)
	}
	// So is a payment, too, that the customer made while it was cancelled.
	o.Returned = slices.Contains([]string{"REFUNDED", "REFUNDING", "ASYNC_REFUNDING"}, a.Status)
	if a.Status == "REFUNDED" {
		// The state shows a full refund. For a partial refund the bank documents no amount, and no refund has an id.
		o.Refunds = []gateway.RefundOutcome{{Event: fsm.EventSucceeded, Whole: true}}
	}
	if o.Event == fsm.EventFailed || o.Event == fsm.EventSoftFailed {
		o.Failure = payment.NewFailure(hooks.FailureCode(a.Status, string(a.ErrorCode)))
		o.PageOpen = o.Event == fsm.EventSoftFailed // one failed try on the bank's page; REJECTED is final
	}
	return o, nil
}

// money returns an amount in kopecks, or in the minor units of the terminal's currency.
func (c *Client) money(minor *int64) *payment.Money {
	if minor == nil {
		return nil
	}
	return &payment.Money{Minor: *minor, Currency: c.currency}
}

// standing maps a status as package webhooks does, except for a payment that waits on the bank's page. That payment has
// another time limit than processing at the bank. Refunded money was captured before; the amount does not show how much
// is left. An unrecognized status is processing.
func standing(status string) fsm.Event {
	switch status {
	case "NEW", "FORM_SHOWED", "3DS_CHECKING":
		return fsm.EventActionRequired
	case "AUTHORIZED", "PARTIAL_REVERSED":
		return fsm.EventAuthorized
	case "CONFIRMED", "REFUNDING", "ASYNC_REFUNDING", "PARTIAL_REFUNDED", "REFUNDED":
		return fsm.EventSucceeded
	case "AUTH_FAIL":
		return fsm.EventSoftFailed
	case "REJECTED", "REVERSED", "CANCELED", "DEADLINE_EXPIRED", "ATTEMPTS_EXPIRED":
		return fsm.EventFailed
	}
	return fsm.EventProcessing
}
