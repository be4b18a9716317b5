package cloudpayments

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

type transactionRequest struct {
	TransactionID json.Number `json:"TransactionId"`
}

type invoiceRequest struct {
	InvoiceID string `json:"InvoiceId"`
}

// Lookup implements gateway.Provider
// (https://developers.cloudpayments.ru/#prosmotr-tranzaktsii). A page has the state of
// its last transaction; without any it waits for its customer, at the address that it
// was created with.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	n, err := parseName(id)
	if err != nil {
		return gateway.Outcome{}, err
	}
	path, body := n.question()
	t, err := c.transaction(ctx, path, body)
	switch {
	case n.order != "" && errors.Is(err, gateway.ErrNoSuchPayment):
		return unpaid(n), nil
	case err != nil:
		return gateway.Outcome{}, err
	}
	return n.outcome(t)
}

// question returns the lookup request for a payment.
func (n name) question() (path string, body any) {
	if n.order != "" {
		return "/payments/find", invoiceRequest{n.invoice}
	}
	return "/payments/get", transactionRequest{n.transaction}
}

// unpaid returns the outcome of a page without a transaction.
func unpaid(n name) gateway.Outcome {
	return gateway.Outcome{News: fsm.NewsActionRequired, ProviderPaymentID: n.String(), References: []string{n.order}}
}

// outcome returns the outcome of a payment by one of its transactions.
func (n name) outcome(t transaction) (gateway.Outcome, error) {
	o, err := t.outcome()
	if n.order == "" {
		return o, err
	}
	if o.News == fsm.NewsFailed && o.Failure.Code != "canceled" {
		o.News, o.PageOpen = fsm.NewsSoftFailed, true
	}
	o.References = []string{n.order, o.ProviderPaymentID}
	o.ProviderPaymentID = n.String()
	return o, err
}

// Find implements gateway.Provider
// (https://developers.cloudpayments.ru/#proverka-statusa-platezha): our reference is
// the InvoiceId. Only the older of the two methods is limited to payments.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	t, err := c.transaction(ctx, "/payments/find", invoiceRequest{id.String()})
	if err != nil {
		return gateway.Outcome{}, err
	}
	o, err := t.outcome()
	if t.Status == statusDeclined { // of a payment in the script, where the customer may try again; of a token it is the end
		o.PageOpen, o.Transaction = true, o.ProviderPaymentID
	}
	return o, err
}

// A lookup of a declined transaction is a failure with the transaction.
func (c *Client) ask(ctx context.Context, path string, body any) (answer, error) {
	a, err := c.question(ctx, path, body)
	switch {
	case err != nil:
		return answer{}, err
	case a.missing():
		return answer{}, gateway.ErrNoSuchPayment
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
