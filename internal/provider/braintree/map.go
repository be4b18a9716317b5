package braintree

import (
	"encoding/xml"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// transaction is Braintree's view of a sale, or of a refund (credit). Its elements are those of recorded responses
// (https://github.com/solidusio/solidus_paypal_braintree, spec/fixtures/cassettes) and of the official libraries.
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
	Instrument string     `xml:"payment-instrument-type"`
	Card       instrument `xml:"credit-card"`
	PayPal     instrument `xml:"paypal"`
	// Refunded is the sale of a refund, Refunds are the refunds of a sale.
	Refunded string    `xml:"refunded-transaction-id"`
	Refunds  []string  `xml:"refund-ids>item"`
	Disputes []dispute `xml:"disputes>dispute"`
	History  []event   `xml:"status-history>status-event"`
	// Local is the id of the local payment that the transaction was made of, by which webhooks before it name it.
	Local string `xml:"local-payment>payment-id"`
}

const (
	sale, credit = "sale", "credit"
	// duplicate is why the second of two equal transactions is rejected.
	duplicate = "duplicate"
)

// statuses are those of https://developer.paypal.com/braintree/docs/reference/general/statuses. What is submitted for
// settlement is captured ("also known as captured or capturing",
// https://developer.paypal.com/braintree/articles/get-started/transaction-lifecycle); one that is declined then is a
// late failure. A bank debit, and a PayPal payment that PayPal holds back, are pending until they are settled. An
// unrecognised status is processing.
var statuses = map[string]fsm.News{ //nolint:gochecknoglobals // a table
	"authorized":            fsm.NewsAuthorized,
	submitted:               fsm.NewsSucceeded,
	"settling":              fsm.NewsSucceeded,
	"settlement_confirmed":  fsm.NewsSucceeded,
	settled:                 fsm.NewsSucceeded,
	"authorization_expired": fsm.NewsFailed,
	"failed":                fsm.NewsFailed,
	"gateway_rejected":      fsm.NewsFailed,
	"processor_declined":    fsm.NewsFailed,
	declinedLate:            fsm.NewsFailed,
	voided:                  fsm.NewsFailed,
}

func (t transaction) news() fsm.News {
	if n, known := statuses[t.Status]; known {
		return n
	}
	return fsm.NewsProcessing
}

// outcome maps a sale by its status.
func (t transaction) outcome() (gateway.Outcome, error) {
	if t.ID == "" || t.Status == "" || t.Type != sale {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{ProviderPaymentID: t.ID, Container: t.Local, Payee: t.Account, News: t.news(), References: t.references()}
	var err error
	if o.News == fsm.NewsAuthorized || o.News == fsm.NewsSucceeded {
		o.Money, err = call.ReadDecimal(t.Amount, t.Currency)
	}
	if o.News == fsm.NewsFailed {
		o.Failure = t.failure()
		o.Undoes = t.Status == declinedLate || t.Status == voided
	}
	return o, err
}

// failure is why a transaction failed: by Braintree's own rules, or by the code of the processor's response
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

// rejections are the codes of the reasons of a gateway rejection (braintree_python, braintree/transaction.py); the
// others are those of a merchant's account.
var rejections = map[string]string{ //nolint:gochecknoglobals // a table
	"avs": declinedCard, "avs_and_cvv": declinedCard, "cvv": declinedCard,
	"fraud": "fraud_suspected", "risk_threshold": "fraud_suspected", "three_d_secure": "authentication_failed",
}

const declinedCard = "card_declined"

// declineCode maps a processor's response: 2001 is insufficient funds, 2002 and 2003 are limits, 2014 is suspected
// fraud, 2099 needs the cardholder's authentication; from 3000 on the processor could not be reached.
func declineCode(response string) string {
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
