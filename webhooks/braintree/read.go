package braintree

import (
	"cmp"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// notification is the XML (https://developer.paypal.com/braintree/docs/reference/general/webhooks; the elements are
// seen in the samples that the official Node library makes).
type notification struct {
	XMLName   xml.Name `xml:"notification"`
	Timestamp string   `xml:"timestamp"`
	Kind      string   `xml:"kind"`
	Subject   subject  `xml:"subject"`
}

// subject holds the possible subjects of a notification. A notification has one of them.
type subject struct {
	Transaction   transaction  `xml:"transaction"`
	Dispute       dispute      `xml:"dispute"`
	LocalPayment  localPayment `xml:"local-payment"`
	LocalExpired  localPayment `xml:"local-payment-expired"`
	LocalFunded   localPayment `xml:"local-payment-funded"`
	LocalReversed localPayment `xml:"local-payment-reversed"`
	Subscription  struct {
		ID string `xml:"id"`
	} `xml:"subscription"`
	Review struct {
		TransactionID string `xml:"transaction-id"`
		Decision      string `xml:"decision"`
	} `xml:"transaction-review"`
	PayPal struct {
		Token string `xml:"token"`
	} `xml:"paypal-account"`
	Updated struct {
		Token string `xml:"token"`
	} `xml:"payment-method-customer-data-updated-metadata"`
}

// transaction is a sale, or a refund (type credit).
type transaction struct {
	ID       string `xml:"id"`
	Type     string `xml:"type"`
	Status   string `xml:"status"`
	Amount   string `xml:"amount"`
	Currency string `xml:"currency-iso-code"`
	OrderID  string `xml:"order-id"`
	// Account is the merchant account that is paid.
	Account string `xml:"merchant-account-id"`
	// Refunded is the sale that a refund is of; in the samples it is fk.
	Refunded   string `xml:"refunded-transaction-id"`
	RefundedFK string `xml:"refunded-transaction-fk"`
}

type dispute struct {
	ID          string      `xml:"id"`
	Kind        string      `xml:"kind"`
	Amount      string      `xml:"amount"`
	Disputed    string      `xml:"amount-disputed"`
	Won         string      `xml:"amount-won"`
	Currency    string      `xml:"currency-iso-code"`
	Reason      string      `xml:"reason"`
	ReplyBy     string      `xml:"reply-by-date"`
	Account     string      `xml:"merchant-account-id"`
	Transaction transaction `xml:"transaction"`
}

type localPayment struct {
	PaymentID string `xml:"payment-id"`
	// Transaction has no id where there is none: the element may come empty, with nil.
	Transaction transaction `xml:"transaction"`
}

func parse(payload string) (webhooks.Event, error) {
	document, err := base64.StdEncoding.DecodeString(payload) // skips line feeds
	if err != nil {
		return webhooks.Event{}, fmt.Errorf("%w: bt_payload: %w", webhooks.ErrPayload, err)
	}
	var n notification
	if err := xml.Unmarshal(document, &n); err != nil {
		return webhooks.Event{}, fmt.Errorf("%w: notification: %w", webhooks.ErrPayload, err)
	}
	n.Kind = strings.TrimSpace(n.Kind)
	e := webhooks.Event{
		ID: n.id(), IDSource: webhooks.Derived, Type: n.Kind, Kind: webhooks.KindIgnored, OccurredAt: read.TimeIn(time.RFC3339, n.Timestamp),
	}
	if n.Kind == "" {
		return e, fmt.Errorf("%w: notification without a kind", webhooks.ErrPayload)
	}
	return n.read(e)
}

// local returns the local payment, which comes under one of four names.
func (n notification) local() localPayment {
	s := n.Subject
	for _, l := range []localPayment{s.LocalPayment, s.LocalFunded, s.LocalExpired, s.LocalReversed} {
		if l.PaymentID != "" {
			return l
		}
	}
	return localPayment{}
}

func (n notification) id() string {
	s, fields := n.Subject, []string{n.Kind, n.Timestamp}
	subject := read.References(s.Transaction.ID, s.Dispute.ID, n.local().PaymentID, s.Subscription.ID, s.Review.TransactionID, s.method())
	return read.DerivedID(append(fields, subject...)...)
}

// read gives the notification kinds of payments their meaning. A subscription charges on its own: its payments were not
// begun here.
func (n notification) read(e webhooks.Event) (webhooks.Event, error) {
	switch n.Kind {
	case "transaction_settled", "transaction_settlement_declined", "refund_failed":
		return n.Subject.Transaction.fill(e)
	case "local_payment_completed", "local_payment_funded", "local_payment_expired", "local_payment_reversed":
		return n.local().fill(e)
	case "dispute_opened", "dispute_under_review", "dispute_disputed",
		"dispute_lost", "dispute_accepted", "dispute_auto_accepted", "dispute_expired", "dispute_won":
		return n.Subject.Dispute.fill(e)
	case "transaction_reviewed":
		return n.Subject.withReview(e), nil
	case "payment_method_revoked_by_customer", "payment_method_customer_data_updated":
		return n.Subject.withMethod(e)
	default:
		return e, nil
	}
}

// withReview reads the decision of a person about a transaction that fraud protection held for review
// (https://developer.paypal.com/braintree/docs/reference/general/webhooks/transaction). Another word is no decision.
func (s subject) withReview(e webhooks.Event) webhooks.Event {
	var status webhooks.ReviewStatus
	switch strings.ToLower(s.Review.Decision) {
	case "approve", "approved":
		status = webhooks.ReviewApproved
	case "decline", "declined":
		status = webhooks.ReviewDeclined
	}
	if status == "" || s.Review.TransactionID == "" {
		return e
	}
	e.Kind, e.Review = webhooks.KindReview, &webhooks.Review{Status: status}
	e.ProviderPaymentID, e.References = s.Review.TransactionID, read.References(s.Review.TransactionID)
	return e
}

// method returns the token of the payment method of the vault that the notification is about.
func (s subject) method() string { return cmp.Or(s.PayPal.Token, s.Updated.Token) }

// withMethod reads a payment method of the vault: a wallet that its customer has revoked can't be charged any more.
func (s subject) withMethod(e webhooks.Event) (webhooks.Event, error) {
	token := s.method()
	if token == "" {
		return e, fmt.Errorf("%w: %s without a token", webhooks.ErrPayload, e.Type)
	}
	e.Kind, e.Method = webhooks.KindMethodUpdated, &webhooks.Method{Tokens: []string{token}}
	if e.Type == "payment_method_revoked_by_customer" {
		e.Kind = webhooks.KindMethodRemoved
	}
	return e, nil
}

func (t transaction) fill(e webhooks.Event) (webhooks.Event, error) {
	refund := t.Type == "credit" || e.Type == "refund_failed"
	declined := e.Type != "transaction_settled"
	switch {
	case refund && declined:
		e.Kind = webhooks.KindRefundFailed
	case refund:
		e.Kind = webhooks.KindRefundSucceeded
	case declined:
		e.Kind = webhooks.KindUndone
	default:
		e.Kind = webhooks.KindSucceeded
	}
	if declined {
		e.FailureCode, e.ProviderCode = webhooks.CodeProviderRejected, t.Status
	}
	e.ProviderPaymentID, e.Payee = t.ID, t.Account
	if refund {
		e.RefundID, e.ProviderPaymentID = t.ID, cmp.Or(t.Refunded, t.RefundedFK)
	}
	e.References = read.References(t.OrderID, e.ProviderPaymentID)
	return read.WithDecimal(e, t.Amount, t.Currency)
}

// fill reads a local payment, the container of a transaction. "Completed" and "funded" mean that the customer's money has
// arrived at Braintree; it is
// the merchant's only with a transaction, and goes back (reversed) if no transaction is made. A reversal and an expiry both
// end a payment that was never captured.
func (l localPayment) fill(e webhooks.Event) (webhooks.Event, error) {
	e.Container = l.PaymentID
	e.References = read.References(l.PaymentID)
	t := l.Transaction
	switch {
	case e.Type == "local_payment_expired":
		e.Kind, e.FailureCode = webhooks.KindFailed, webhooks.CodeExpired
	case e.Type == "local_payment_reversed":
		e.Kind, e.FailureCode = webhooks.KindFailed, webhooks.CodeCanceled
	case t.ID == "":
		e.Kind = webhooks.KindAuthorized
	default:
		e.Kind = statusKind(t.Status)
		if e.Kind.IsFailure() {
			e.FailureCode, e.ProviderCode = cmp.Or(ends[t.Status], webhooks.CodeProviderRejected), t.Status
		}
	}
	if t.ID == "" {
		return e, nil
	}
	e.Payee, e.References = t.Account, read.References(t.OrderID, t.ID, l.PaymentID)
	if e.Type != "local_payment_expired" && e.Type != "local_payment_reversed" { // they name no payment
		e.ProviderPaymentID = t.ID
	}
	if t.Currency == "" {
		return e, nil // as in the samples
	}
	return read.WithDecimal(e, t.Amount, t.Currency)
}

// statusKind reads the transaction of a paid local payment. Money on its way to the merchant counts as arrived. If the
// transaction is declined or given up, the money goes back to the customer, also if it counted as arrived before.
func statusKind(status string) webhooks.Kind {
	switch status {
	case "authorizing", "submitted_for_settlement", "settlement_pending", "settling", "settlement_confirmed", "settled":
		return webhooks.KindSucceeded
	case "authorized":
		return webhooks.KindAuthorized
	case "processor_declined", "gateway_rejected", "failed", "settlement_declined", "voided", "authorization_expired":
		return webhooks.KindUndone
	default:
		return webhooks.KindProcessing
	}
}

// ends are the codes of transactions that ended without a refusal.
var ends = map[string]webhooks.FailureCode{"voided": webhooks.CodeCanceled, "authorization_expired": webhooks.CodeExpired}

// fill reads a dispute. Its amount is debited until the dispute is resolved, and the won part is returned
// (https://developer.paypal.com/braintree/graphql/reference/types/dispute.md, amountDisputed and amountWon). A dispute that
// is accepted or not answered in time is lost, which moves no more money. A retrieval only requests documents: no money
// has moved.
func (b dispute) fill(e webhooks.Event) (webhooks.Event, error) {
	amount := cmp.Or(b.Disputed, b.Amount)
	switch e.Type {
	case "dispute_under_review", "dispute_disputed":
		e.Kind = webhooks.KindDisputed
	case "dispute_won":
		e.Kind, amount = webhooks.KindChargebackReversed, cmp.Or(b.Won, amount)
	default:
		e.Kind = webhooks.KindChargeback
	}
	switch {
	case b.Kind == "retrieval":
		e.Kind = webhooks.KindDisputed
	case e.Kind.IsMovement():
		e.MovementID = b.ID
	}
	e.ProviderPaymentID, e.Payee = b.Transaction.ID, cmp.Or(b.Account, b.Transaction.Account)
	e.References = read.References(b.Transaction.OrderID, b.Transaction.ID)
	e, err := read.WithDecimal(e, amount, b.Currency)
	return b.withDispute(e), err
}

// disputeStatuses translates the kinds of notifications. A dispute that is "disputed" has the merchant's evidence
// (https://developer.paypal.com/braintree/docs/reference/general/webhooks/dispute).
var disputeStatuses = map[string]webhooks.DisputeStatus{
	"dispute_opened":        webhooks.DisputeOpen,
	"dispute_under_review":  webhooks.DisputeUnderReview,
	"dispute_disputed":      webhooks.DisputeUnderReview,
	"dispute_won":           webhooks.DisputeWon,
	"dispute_lost":          webhooks.DisputeLost,
	"dispute_expired":       webhooks.DisputeLost,
	"dispute_accepted":      webhooks.DisputeAccepted,
	"dispute_auto_accepted": webhooks.DisputeAccepted,
}

// withDispute adds the dispute. A retrieval without an answer in time is not lost, it may become a dispute. The
// merchant may answer until the end of the day of reply-by-date, which has no zone.
func (b dispute) withDispute(e webhooks.Event) webhooks.Event {
	status := disputeStatuses[e.Type]
	if b.Kind == "retrieval" && (!status.Closed() || e.Type == "dispute_expired") {
		status = webhooks.DisputeWarning
	}
	disputed, _ := read.Decimal(cmp.Or(b.Disputed, b.Amount), b.Currency)
	return read.WithDispute(e, webhooks.Dispute{
		ID: b.ID, Status: status, Reason: b.Reason, Money: disputed, DueBy: read.TimeIn(time.DateOnly, b.ReplyBy),
	})
}
