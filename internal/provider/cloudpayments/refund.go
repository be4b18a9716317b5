package cloudpayments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// Refund implements payment.Provider (https://developers.cloudpayments.ru/#vozvrat-deneg).
// The answer only says the refund's number: what was paid back is what was asked
// for.
func (c *Client) Refund(ctx context.Context, r payment.RefundCall) (payment.RefundOutcome, error) {
	amount, err := call.Decimal(r.Money)
	if err != nil {
		return payment.RefundOutcome{}, err
	}
	n, err := parseName(r.ProviderPaymentID)
	if err != nil {
		return payment.RefundOutcome{}, err
	}
	paid := transaction{TransactionID: n.transaction}
	if n.order != "" {
		all, err := c.tries(ctx, n, r.Transactions)
		if err != nil {
			return payment.RefundOutcome{}, call.NotSent(err)
		}
		if paid, err = all.with("Completed"); err != nil {
			return payment.RefundOutcome{}, err
		}
	}
	a, err := c.command(ctx, "/payments/refund", r.IdempotencyKey, r.Licence, amountRequest{
		TransactionID: paid.TransactionID, Amount: json.Number(amount),
		// Where the webhooks' adapter looks for it.
		Data: map[string]string{"refund_id": r.Refund.String(), "payment_attempt_id": r.Attempt.String()},
	})
	switch {
	case err != nil:
		return payment.RefundOutcome{}, err
	case !a.Success:
		return payment.RefusedRefund(a.code()), nil
	}
	t, err := parse(a)
	return payment.RefundOutcome{News: fsm.NewsSucceeded, ProviderRefundID: string(t.TransactionID), Money: &r.Money}, err
}

var errNoLookup = fmt.Errorf("%w: CloudPayments only tells of the last operation of a payment, and that is not this refund", payment.ErrNotTold)

// LookupRefund implements payment.Provider: a refund is a transaction of its own.
// Without its number it is found if it was the last operation of its payment
// (https://developers.cloudpayments.ru/#proverka-statusa-platezha, the newer method).
func (c *Client) LookupRefund(ctx context.Context, r payment.RefundRef) (payment.RefundOutcome, error) {
	if r.ProviderRefundID != "" {
		n, err := parseName(r.ProviderRefundID)
		if err != nil {
			return payment.RefundOutcome{}, err
		}
		a, err := c.ask(ctx, "/payments/get", transactionRequest{n.transaction})
		if err != nil {
			return payment.RefundOutcome{}, err
		}
		return readRefund(a)
	}
	a, err := c.last(ctx, r.ProviderPaymentID)
	switch {
	case errors.Is(err, payment.ErrNoSuchPayment):
		return payment.RefundOutcome{}, errNoLookup
	case err != nil:
		return payment.RefundOutcome{}, err
	}
	t, err := parse(a)
	if err != nil {
		return payment.RefundOutcome{}, err
	}
	if t.data()["refund_id"] != r.Refund.String() {
		return payment.RefundOutcome{}, errNoLookup
	}
	return readRefund(a)
}

// last is the last operation of a payment.
func (c *Client) last(ctx context.Context, id string) (answer, error) {
	invoice, err := c.invoiceOf(ctx, id)
	if err != nil {
		return answer{}, err
	}
	return c.ask(ctx, "/v2/payments/find", invoiceRequest{invoice})
}

// invoiceOf is the reference under which a payment was made.
func (c *Client) invoiceOf(ctx context.Context, id string) (string, error) {
	n, err := parseName(id)
	if err != nil || n.order != "" {
		return n.invoice, err
	}
	a, err := c.ask(ctx, "/payments/get", transactionRequest{n.transaction})
	if err != nil {
		return "", err
	}
	t, err := parse(a)
	return t.InvoiceID, err
}

func readRefund(a answer) (payment.RefundOutcome, error) {
	t, err := parse(a)
	if err != nil {
		return payment.RefundOutcome{}, err
	}
	o := payment.RefundOutcome{ProviderRefundID: string(t.TransactionID), News: fsm.NewsProcessing}
	switch t.Status {
	case "Completed":
		o.News = fsm.NewsSucceeded
	case "Declined", "Cancelled":
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure("provider_rejected", t.reason())
	}
	o.Money, err = t.money()
	return o, err
}
