package webhooks

import (
	"cmp"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

// braintreeNotification is the XML
// (https://developer.paypal.com/braintree/docs/reference/general/webhooks; the
// elements are seen in the samples that the official Node library makes).
type braintreeNotification struct {
	XMLName   xml.Name         `xml:"notification"`
	Timestamp string           `xml:"timestamp"`
	Kind      string           `xml:"kind"`
	Subject   braintreeSubject `xml:"subject"`
}

// braintreeSubject holds what a notification can speak of; it has one of them.
type braintreeSubject struct {
	Transaction   braintreeTransaction  `xml:"transaction"`
	Dispute       braintreeDispute      `xml:"dispute"`
	LocalPayment  braintreeLocalPayment `xml:"local-payment"`
	LocalExpired  braintreeLocalPayment `xml:"local-payment-expired"`
	LocalFunded   braintreeLocalPayment `xml:"local-payment-funded"`
	LocalReversed braintreeLocalPayment `xml:"local-payment-reversed"`
	Subscription  struct {
		ID string `xml:"id"`
	} `xml:"subscription"`
	Review struct {
		TransactionID string `xml:"transaction-id"`
	} `xml:"transaction-review"`
}

// braintreeTransaction is a sale, or a refund (type credit).
type braintreeTransaction struct {
	ID       string `xml:"id"`
	Type     string `xml:"type"`
	Status   string `xml:"status"`
	Amount   string `xml:"amount"`
	Currency string `xml:"currency-iso-code"`
	OrderID  string `xml:"order-id"`
	// Refunded is the sale that a refund pays back; the samples say fk.
	Refunded   string `xml:"refunded-transaction-id"`
	RefundedFK string `xml:"refunded-transaction-fk"`
}

type braintreeDispute struct {
	ID          string               `xml:"id"`
	Kind        string               `xml:"kind"`
	Amount      string               `xml:"amount"`
	Disputed    string               `xml:"amount-disputed"`
	Won         string               `xml:"amount-won"`
	Currency    string               `xml:"currency-iso-code"`
	Transaction braintreeTransaction `xml:"transaction"`
}

type braintreeLocalPayment struct {
	PaymentID string `xml:"payment-id"`
	// Transaction has no id where there is none: the element may come empty, with nil.
	Transaction braintreeTransaction `xml:"transaction"`
}

func parseBraintree(payload string) (Event, error) {
	document, err := base64.StdEncoding.DecodeString(payload) // skips line feeds
	if err != nil {
		return Event{}, fmt.Errorf("%w: bt_payload: %w", ErrPayload, err)
	}
	var n braintreeNotification
	if err := xml.Unmarshal(document, &n); err != nil {
		return Event{}, fmt.Errorf("%w: notification: %w", ErrPayload, err)
	}
	n.Kind = strings.TrimSpace(n.Kind)
	if n.Kind == "" {
		return Event{}, fmt.Errorf("%w: notification without a kind", ErrPayload)
	}
	return n.read(Event{
		ID: n.id(), IDSource: Derived, Type: n.Kind, Kind: KindIgnored, OccurredAt: textTime(time.RFC3339, n.Timestamp),
	})
}

// local is the local payment, by whatever name it comes.
func (n braintreeNotification) local() braintreeLocalPayment {
	s := n.Subject
	for _, l := range []braintreeLocalPayment{s.LocalPayment, s.LocalFunded, s.LocalExpired, s.LocalReversed} {
		if l.PaymentID != "" {
			return l
		}
	}
	return braintreeLocalPayment{}
}

func (n braintreeNotification) id() string {
	s, fields := n.Subject, []string{n.Kind, n.Timestamp}
	subject := references(s.Transaction.ID, s.Dispute.ID, n.local().PaymentID, s.Subscription.ID, s.Review.TransactionID)
	return derivedID(append(fields, subject...)...)
}

// read turns the kinds that are about a payment into what they say. Subscriptions
// charge by themselves what nobody began here.
func (n braintreeNotification) read(e Event) (Event, error) {
	switch n.Kind {
	case "transaction_settled", "transaction_settlement_declined", "refund_failed":
		return n.Subject.Transaction.fill(e)
	case "local_payment_completed", "local_payment_funded", "local_payment_expired", "local_payment_reversed":
		return n.local().fill(e)
	case "dispute_opened", "dispute_under_review", "dispute_disputed",
		"dispute_lost", "dispute_accepted", "dispute_auto_accepted", "dispute_expired", "dispute_won":
		return n.Subject.Dispute.fill(e)
	default:
		return e, nil
	}
}

func (t braintreeTransaction) fill(e Event) (Event, error) {
	refund := t.Type == "credit" || e.Type == "refund_failed"
	declined := e.Type != "transaction_settled"
	switch {
	case refund && declined:
		e.Kind = KindRefundFailed
	case refund:
		e.Kind = KindRefundSucceeded
	case declined:
		e.Kind = KindFailed
	default:
		e.Kind = KindSucceeded
	}
	if declined {
		e.FailureCode, e.ProviderCode = codeProviderRejected, t.Status
	}
	e.ProviderPaymentID = t.ID
	if refund {
		e.RefundID, e.ProviderPaymentID = t.ID, cmp.Or(t.Refunded, t.RefundedFK)
	}
	e.References = references(t.OrderID, e.ProviderPaymentID)
	return e.withMoney(decimalMoneyIn(t.Amount, t.Currency))
}

// fill reads a local payment. "Completed" and "funded" say that the customer's money
// has arrived at Braintree; it is the merchant's only with a transaction, and goes
// back (reversed) if none is made. Both that and an expiry end a payment that was
// never taken.
func (l braintreeLocalPayment) fill(e Event) (Event, error) {
	e.ProviderPaymentID = l.PaymentID
	e.References = references(l.PaymentID)
	t := l.Transaction
	switch {
	case e.Type == "local_payment_expired":
		e.Kind, e.FailureCode = KindFailed, codeExpired
	case e.Type == "local_payment_reversed":
		e.Kind, e.FailureCode = KindFailed, codeCanceled
	case t.ID == "":
		e.Kind = KindAuthorized
	default:
		e.Kind = braintreeStatus(t.Status)
		if e.Kind == KindFailed {
			e.FailureCode, e.ProviderCode = cmp.Or(braintreeEnds[t.Status], codeProviderRejected), t.Status
		}
	}
	if t.ID == "" {
		return e, nil
	}
	e.ProviderPaymentID = t.ID
	e.References = references(t.OrderID, t.ID, l.PaymentID)
	return e.withMoney(decimalMoneyIn(t.Amount, t.Currency))
}

// braintreeStatus reads the transaction of a local payment whose money has arrived.
// On its way to the merchant it is as good as there; what is declined or given up
// then goes back to the customer.
func braintreeStatus(status string) Kind {
	switch status {
	case "authorizing", "submitted_for_settlement", "settlement_pending", "settling", "settlement_confirmed", "settled":
		return KindSucceeded
	case "authorized":
		return KindAuthorized
	case "processor_declined", "gateway_rejected", "failed", "settlement_declined", "voided", "authorization_expired":
		return KindFailed
	default:
		return KindProcessing
	}
}

// braintreeEnds are the codes of transactions that ended without a refusal.
var braintreeEnds = map[string]string{"voided": codeCanceled, "authorization_expired": codeExpired}

// fill reads a dispute. It takes the money when it is opened (from memory), and returns
// what of it is won; accepted or not answered in time, it is lost, which moves no more.
// A retrieval only asks for papers: no money has moved.
func (b braintreeDispute) fill(e Event) (Event, error) {
	amount := cmp.Or(b.Disputed, b.Amount)
	switch e.Type {
	case "dispute_under_review", "dispute_disputed":
		e.Kind = KindDisputed
	case "dispute_won":
		e.Kind, amount = KindChargebackReversed, cmp.Or(b.Won, amount)
	default:
		e.Kind = KindChargeback
	}
	switch {
	case b.Kind == "retrieval" && e.Kind == KindChargebackReversed:
		e.Kind = KindIgnored
		return e, nil
	case b.Kind == "retrieval":
		e.Kind = KindDisputed
	case e.Kind.moves():
		e.MovementID = b.ID
	}
	e.ProviderPaymentID = b.Transaction.ID
	e.References = references(b.Transaction.OrderID, b.Transaction.ID)
	return e.withMoney(decimalMoneyIn(amount, b.Currency))
}
