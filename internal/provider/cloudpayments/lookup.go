package cloudpayments

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

type transactionRequest struct {
	TransactionID json.Number `json:"TransactionId"`
}

type invoiceRequest struct {
	InvoiceID string `json:"InvoiceId"`
}

// Lookup implements payment.Provider
// (https://developers.cloudpayments.ru/#prosmotr-tranzaktsii). A page is what its
// last transaction is; one without any waits for its customer, by the address
// that it had when it was made.
func (c *Client) Lookup(ctx context.Context, id string) (payment.Outcome, error) {
	n, err := parseName(id)
	if err != nil {
		return payment.Outcome{}, err
	}
	path, body := n.question()
	t, err := c.transaction(ctx, path, body)
	switch {
	case n.order != "" && errors.Is(err, payment.ErrNoSuchPayment):
		return unpaid(n), nil
	case err != nil:
		return payment.Outcome{}, err
	}
	return n.outcome(t)
}

// question asks for what a payment is called by.
func (n name) question() (path string, body any) {
	if n.order != "" {
		return "/payments/find", invoiceRequest{n.invoice}
	}
	return "/payments/get", transactionRequest{n.transaction}
}

// unpaid is a page on which nobody has tried to pay.
func unpaid(n name) payment.Outcome {
	return payment.Outcome{News: fsm.NewsActionRequired, ProviderPaymentID: n.String(), References: []string{n.order}}
}

// outcome is how a payment stands, by one of its transactions.
func (n name) outcome(t transaction) (payment.Outcome, error) {
	o, err := t.outcome()
	if n.order == "" {
		return o, err
	}
	if o.News == fsm.NewsFailed && o.Failure.Code != "canceled" {
		// The customer may try again on the page.
		o.News = fsm.NewsSoftFailed
	}
	o.References = []string{n.order, o.ProviderPaymentID}
	o.ProviderPaymentID = n.String()
	return o, err
}

// Find implements payment.Provider
// (https://developers.cloudpayments.ru/#proverka-statusa-platezha): our reference
// is the InvoiceId. The older of the two methods is the one that finds payments
// only.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (payment.Outcome, error) {
	t, err := c.transaction(ctx, "/payments/find", invoiceRequest{id.String()})
	if err != nil {
		return payment.Outcome{}, err
	}
	return t.outcome()
}

// ask returns the answer about a transaction. One that was declined is told as a
// failure, with the transaction.
func (c *Client) ask(ctx context.Context, path string, body any) (answer, error) {
	a, err := c.question(ctx, path, body)
	switch {
	case err != nil:
		return answer{}, err
	case a.missing():
		return answer{}, payment.ErrNoSuchPayment
	case a.Model == nil:
		return answer{}, a.said()
	}
	return a, nil
}

func (c *Client) transaction(ctx context.Context, path string, body any) (transaction, error) {
	a, err := c.ask(ctx, path, body)
	if err != nil {
		return transaction{}, err
	}
	return parse(a)
}
