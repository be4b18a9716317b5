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

// Lookup implements gateway.Provider (https://developers.cloudpayments.ru/#prosmotr-tranzaktsii). For a page,
// CloudPayments returns only the last payment. A page without a payment waits for its customer, at the address that it
// was created with.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	if page, ok := parseContainer(id); ok {
		return c.lookupPage(ctx, page)
	}
	number, err := transactionOf(id)
	if err != nil {
		return gateway.Outcome{}, err
	}
	t, err := c.transaction(ctx, "/payments/get", transactionRequest{number})
	if err != nil {
		return gateway.Outcome{}, err
	}
	o, err := t.outcome()
	if t.retriesOnQR() {
		o.Event, o.PageOpen = fsm.EventSoftFailed, true
	}
	return o, err
}

func (c *Client) lookupPage(ctx context.Context, page container) (gateway.Outcome, error) {
	t, err := c.transaction(ctx, "/payments/find", invoiceRequest{page.invoice})
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return page.unpaid(), nil
	case err != nil:
		return gateway.Outcome{}, err
	}
	return page.outcome(t)
}

// unpaid returns the outcome of a page without a transaction.
func (n container) unpaid() gateway.Outcome {
	return gateway.Outcome{Event: fsm.EventActionRequired, Container: n.String(), References: []string{n.String(), n.order}}
}

// outcome returns the outcome of a transaction on the page. After a decline, the customer may make another transaction.
func (n container) outcome(t transaction) (gateway.Outcome, error) {
	o, err := t.outcome()
	o.PageOpen = t.Status == statusDeclined
	o.Container, o.References = n.String(), []string{n.String(), n.order, o.ProviderPaymentID}
	return o, err
}

// Find implements gateway.Provider (https://developers.cloudpayments.ru/#proverka-statusa-platezha). Our reference is
// the InvoiceId, which the widget takes from the browser. Find uses the older of two methods, because only that method
// is limited to payments. A declined payment may come from the widget or a QR code of the SBP, where the customer may try again.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	t, err := c.transaction(ctx, "/payments/find", invoiceRequest{id.String()})
	if err != nil {
		return gateway.Outcome{}, err
	}
	o, err := t.outcome()
	o.PageOpen = t.retriesOnQR() || t.Status == statusDeclined && t.data()[linkMark] == ""
	return o, err
}

// ask sends a read. A lookup of a declined transaction is a failure that contains the transaction.
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
