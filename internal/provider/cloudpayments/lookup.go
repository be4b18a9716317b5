package cloudpayments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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
	if n.order != "" {
		return c.lookupPage(ctx, n)
	}
	a, err := c.ask(ctx, "/payments/get", transactionRequest{n.transaction})
	if err != nil {
		return payment.Outcome{}, err
	}
	return read(a)
}

func (c *Client) lookupPage(ctx context.Context, n name) (payment.Outcome, error) {
	o, err := c.lastOn(ctx, n)
	if errors.Is(err, payment.ErrNoSuchPayment) {
		return unpaid(n), nil
	}
	return o, err
}

// unpaid is a page on which nobody has tried to pay.
func unpaid(n name) payment.Outcome {
	return payment.Outcome{News: fsm.NewsActionRequired, ProviderPaymentID: n.String(), References: []string{n.order}}
}

// lastOn reads a page's last transaction.
func (c *Client) lastOn(ctx context.Context, n name) (payment.Outcome, error) {
	a, err := c.ask(ctx, "/payments/find", invoiceRequest{n.invoice})
	if err != nil {
		return payment.Outcome{}, err
	}
	o, err := read(a)
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
	a, err := c.ask(ctx, "/payments/find", invoiceRequest{id.String()})
	if err != nil {
		return payment.Outcome{}, err
	}
	return read(a)
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

// transactionOf resolves a payment's name. What fails here was not the command.
func (c *Client) transactionOf(ctx context.Context, id string) (json.Number, error) {
	n, err := parseName(id)
	if err != nil || n.order == "" {
		return n.transaction, notSent(err)
	}
	a, err := c.ask(ctx, "/payments/find", invoiceRequest{n.invoice})
	if err != nil {
		return "", notSent(err)
	}
	t, err := parse(a)
	return t.TransactionID, notSent(err)
}

func notSent(err error) error {
	if err == nil || errors.Is(err, payment.ErrNoSuchPayment) || errors.Is(err, payment.ErrNotSent) {
		return err
	}
	return fmt.Errorf("%w: %w", payment.ErrNotSent, err)
}
