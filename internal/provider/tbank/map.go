package tbank

import (
	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	hooks "github.com/paylatch/paylatch/webhooks/tbank"
)

// outcome reads a payment by its status
// (https://www.tbank.ru/kassa/dev/payments/#tag/Scenarii-oplaty-po-karte/Statusnaya-model-platezha).
func (c *Client) outcome(a answer) (payment.Outcome, error) {
	if a.PaymentID == "" || a.Status == "" {
		return payment.Outcome{}, errNameless
	}
	o := payment.Outcome{ProviderPaymentID: string(a.PaymentID), News: news(a.Status)}
	switch a.Status {
	case "AUTHORIZED", "PARTIAL_REVERSED", "CONFIRMED":
		o.Money = c.money(a.Amount)
	}
	if o.News == fsm.NewsFailed || o.News == fsm.NewsSoftFailed {
		o.Failure = payment.NewFailure(hooks.FailureCode(a.Status, string(a.ErrorCode)))
	}
	return o, nil
}

// money is an amount of the bank's, in kopecks or what the terminal's currency has
// in their place.
func (c *Client) money(minor *int64) *payment.Money {
	if minor == nil {
		return nil
	}
	return &payment.Money{Minor: *minor, Currency: c.currency}
}

// news reads a status as package webhooks does, but for what waits on the bank's
// page: how long that may be is not how long the bank may work at it. Money that is
// paid back was taken; how much of it is left the amount does not say. A status that
// this version does not know is under way.
func news(status string) fsm.News {
	switch status {
	case "NEW", "FORM_SHOWED", "3DS_CHECKING":
		return fsm.NewsActionRequired
	case "AUTHORIZED", "PARTIAL_REVERSED":
		return fsm.NewsAuthorized
	case "CONFIRMED", "REFUNDING", "ASYNC_REFUNDING", "PARTIAL_REFUNDED", "REFUNDED":
		return fsm.NewsSucceeded
	case "AUTH_FAIL":
		return fsm.NewsSoftFailed
	case "REJECTED", "REVERSED", "CANCELED", "DEADLINE_EXPIRED", "ATTEMPTS_EXPIRED":
		return fsm.NewsFailed
	}
	return fsm.NewsProcessing
}
