package checkout

import (
	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
	hooks "github.com/paylatch/paylatch/webhooks/checkout"
)

// digits are those of
// https://www.checkout.com/docs/resources/calculating-the-amount: CLP is divided
// by 100 there, like all that the page does not list.
var digits = call.Digits{"CLP": 2} //nolint:gochecknoglobals // a table

// paid is a payment, as the answer to its request and as its details show it.
type paid struct {
	ID           string `json:"id"`
	Status       string `json:"status"`
	Amount       int64  `json:"amount"`
	Currency     string `json:"currency"`
	ResponseCode string `json:"response_code"`
	Balances     *struct {
		Authorized int64 `json:"total_authorized"`
		Captured   int64 `json:"total_captured"`
	} `json:"balances"`
	Source struct {
		Type string `json:"type"`
	} `json:"source"`
	ThreeDS *struct {
		Downgraded bool `json:"downgraded"`
	} `json:"3ds"`
	Links struct {
		Redirect struct {
			Href string `json:"href"`
		} `json:"redirect"`
	} `json:"_links"`
}

const declined = "Declined"

// outcome reads a payment by its status
// (https://www.checkout.com/docs/payments/manage-payments/get-payment-details).
// One that this version does not know is under way.
func outcome(p paid) (payment.Outcome, error) {
	if p.ID == "" || p.Status == "" {
		return payment.Outcome{}, errNameless
	}
	o := payment.Outcome{ProviderPaymentID: p.ID, News: fsm.NewsProcessing}
	var err error
	switch p.Status {
	case "Pending":
		if p.waits() {
			o.News, o.NextActionURL = fsm.NewsActionRequired, p.Links.Redirect.Href
		}
	case "Authorized":
		o.News = fsm.NewsAuthorized
		o.Money, err = p.authorized()
	case "Captured", "Partially Captured", "Refunded", "Partially Refunded", "Paid":
		o.News = fsm.NewsSucceeded
		o.Money, err = p.captured()
	case declined:
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure(hooks.FailureCode(p.ResponseCode))
	case "Voided", "Canceled":
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure("canceled", "")
	case "Expired":
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure("expired", "")
	}
	return o, err
}

// waits reports whether a pending payment is so because of its customer. The details
// don't repeat the address; but a card is authorised at once, so that one which is
// pending is in 3-D Secure, unless it goes on without.
func (p paid) waits() bool {
	switch {
	case p.Links.Redirect.Href != "":
		return true
	case p.ThreeDS != nil:
		return !p.ThreeDS.Downgraded
	}
	return p.Source.Type == "card"
}

func (p paid) authorized() (*payment.Money, error) {
	if p.Balances != nil {
		return digits.Money(p.Balances.Authorized, p.Currency)
	}
	return digits.Money(p.Amount, p.Currency)
}

// captured is nil where only a part may have been taken and it is not said which.
func (p paid) captured() (*payment.Money, error) {
	switch {
	case p.Balances != nil:
		return digits.Money(p.Balances.Captured, p.Currency)
	case p.Status == "Captured":
		return digits.Money(p.Amount, p.Currency)
	}
	return nil, nil
}
