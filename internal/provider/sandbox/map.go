package sandbox

import (
	"errors"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

var (
	errBusy     = errors.New("the sandbox is still busy with this key")
	errNameless = errors.New("the sandbox's answer names no object")
)

// charge is the sandbox's own view of a payment.
type charge struct {
	ID             string               `json:"id"`
	Status         string               `json:"status"`
	Amount         int64                `json:"amount"`
	AmountCaptured int64                `json:"amount_captured"`
	Currency       string               `json:"currency"`
	FailureCode    *string              `json:"failure_code"`
	FailureMessage *string              `json:"failure_message"`
	NextAction     *payment.NextAction  `json:"next_action"`
	Saved          *payment.SavedMethod `json:"saved_payment_method"`
}

// outcome returns errNameless for a response without an id: whether there is a payment
// is then unknown.
func outcome(c charge) (gateway.Outcome, error) {
	if c.ID == "" {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{ProviderPaymentID: c.ID, News: fsm.NewsProcessing, Saved: c.Saved}
	money := payment.Money{Minor: c.Amount, Currency: payment.Currency(c.Currency)}
	switch c.Status {
	case "pending":
		if c.NextAction != nil {
			o.News, o.NextAction = fsm.NewsActionRequired, c.NextAction
		}
	case "authorized":
		o.News, o.Money = fsm.NewsAuthorized, &money
	case "succeeded":
		money.Minor = c.AmountCaptured
		o.News, o.Money = fsm.NewsSucceeded, &money
	case "failed":
		o.News, o.Failure = fsm.NewsFailed, failure(c)
	case "canceled":
		o.News = fsm.NewsFailed
		o.Failure = payment.NewFailure("canceled", "")
	}
	return o, nil
}

func failure(c charge) *payment.Failure {
	if c.FailureCode == nil {
		return payment.NewFailure("", "")
	}
	return payment.NewFailure(*c.FailureCode, *c.FailureCode)
}
