package braintree

import (
	"encoding/xml"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// transaction is Braintree's view of a sale or a refund (credit). Its elements are from recorded responses
// (https://github.com/solidusio/solidus_paypal_braintree, spec/fixtures/cassettes) and from the official libraries.
type transaction struct {
	XMLName    xml.Name   `xml:"transaction"`
	ID         string     `xml:"id"`
	Status     string     `xml:"status"`
	Type       string     `xml:"type"`
	Amount     string     `xml:"amount"`
	Currency   string     `xml:"currency-iso-code"`
	OrderID    string     `xml:"order-id"`
	Account    string     `xml:"merchant-account-id"`
	Rejection  string     `xml:"gateway-rejection-reason"`
	Response   string     `xml:"processor-response-code"`
	Risk       string     `xml:"risk-data>decision"`
	Instrument string     `xml:"payment-instrument-type"`
	Card       instrument `xml:"credit-card"`
	PayPal     instrument `xml:"paypal"`
	// Refunded is the id of the refunded sale. Refunds are the ids of a sale's refunds.
	Refunded string    `xml:"refunded-transaction-id"`
	Refunds  []string  `xml:"refund-ids>item"`
	Disputes []dispute `xml:"disputes>dispute"`
	History  []event   `xml:"status-history>status-event"`
	// Local is the id of the local payment that became the transaction. Earlier webhooks name the payment by it.
	Local string `xml:"local-payment>payment-id"`
}

const (
	sale, credit = "sale", "credit"
	// duplicate is the reason for rejecting the second of two equal transactions.
	duplicate = "duplicate"
)

// statuses maps the statuses of https://developer.paypal.com/braintree/docs/reference/general/statuses. A transaction
// that is submitted for settlement is captured ("also known as captured or capturing",
// https://developer.paypal.com/braintree/articles/get-started/transaction-lifecycle). If its settlement is then
// declined, that is a late failure. A bank debit, and a PayPal payment that PayPal holds back, are pending until they
// are settled. An unrecognised status is processing.
var statuses = map[string]fsm.Event{ //nolint:gochecknoglobals // a table
	"authorized":            fsm.EventAuthorized,
	submitted:               fsm.EventSucceeded,
	"settling":              fsm.EventSucceeded,
	"settlement_confirmed":  fsm.EventSucceeded,
	settled:                 fsm.EventSucceeded,
	"authorization_expired": fsm.EventFailed,
	"failed":                fsm.EventFailed,
	"gateway_rejected":      fsm.EventFailed,
	"processor_declined":    fsm.EventFailed,
	declinedLate:            fsm.EventFailed,
	voided:                  fsm.EventFailed,
}

func (t transaction) news() fsm.Event {
	if n, known := statuses[t.Status]; known {
		return n
	}
	return fsm.EventProcessing
}

// outcome maps a sale by its status.
func (t transaction) outcome() (gateway.Outcome, error) {
	if t.ID == "" || t.Status == "" || t.Type != sale {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{ProviderPaymentID: t.ID, Container: t.Local, Payee: t.Account, Event: t.news(), References: t.references()}
	var err error
	if o.Event == fsm.EventAuthorized || o.Event == fsm.EventSucceeded {
		o.Money, err = kit.ReadDecimal(t.Amount, t.Currency)
	}
	if t.Risk == "Review" {
		o.Review = &payment.ReviewReport{Status: payment.ReviewOpen}
	}
	if o.Event == fsm.EventFailed {
		o.Failure = t.failure()
		o.Reverses = t.Status == declinedLate || t.Status == voided
	}
	return o, err
}

// failure returns the reason of a failure: Braintree's own rules, or the code of the processor's response
// (https://developer.paypal.com/braintree/docs/reference/general/processor-responses/authorization-responses).
func (t transaction) failure() *payment.Failure {
	switch t.Status {
	case voided:
		return payment.NewFailure("canceled", "")
	case "authorization_expired":
		return payment.NewFailure("expired", "")
	case "gateway_rejected":
		return payment.NewFailure(rejections[t.Rejection], t.Rejection)
	case "processor_declined":
		return payment.NewFailure(declineCode(t.Response), t.Response)
	}
	return payment.NewFailure("provider_rejected", t.Status)
}

// rejections maps the reasons of a gateway rejection to failure codes (braintree_python, braintree/transaction.py).
// Other reasons concern the merchant's account.
var rejections = map[string]webhooks.FailureCode{ //nolint:gochecknoglobals // a table
	"avs": declinedCard, "avs_and_cvv": declinedCard, "cvv": declinedCard,
	"fraud": "fraud_suspected", "risk_threshold": "fraud_suspected", "three_d_secure": "authentication_failed",
}

const declinedCard = "card_declined"

// declineCode maps a processor's response: 2001 is insufficient funds, 2002 and 2003 are limits, 2014 is suspected
// fraud, 2099 needs the cardholder's authentication; from 3000 on the processor could not be reached.
func declineCode(response string) webhooks.FailureCode {
	switch {
	case response == "2001":
		return "insufficient_funds"
	case response == "2014":
		return "fraud_suspected"
	case response == "2099":
		return "authentication_failed"
	case response >= "3000":
		return "provider_rejected"
	}
	return declinedCard
}
