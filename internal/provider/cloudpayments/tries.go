package cloudpayments

import (
	"context"
	"fmt"

	"github.com/paylatch/paylatch/internal/gateway"
)

// tries are the transactions of one page. CloudPayments returns only the last of them:
// those with a recorded money movement come before it.
type tries []transaction

// tries returns gateway.ErrNoSuchPayment for a page without any.
func (c *Client) tries(ctx context.Context, n name, known []string) (tries, error) {
	last, err := c.transaction(ctx, "/payments/find", invoiceRequest{n.invoice})
	if err != nil {
		return nil, err
	}
	var all tries
	for _, id := range known {
		if id == string(last.TransactionID) {
			continue
		}
		of, err := parseName(id)
		if err != nil {
			return nil, err
		}
		t, err := c.transaction(ctx, "/payments/get", transactionRequest{of.transaction})
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return append(all, last), nil
}

// errNoneSuch is a result of CloudPayments, not a failure.
var errNoneSuch = fmt.Errorf("%w: no transaction on the page is so", gateway.ErrNotTold)

// with returns the first transaction of a status. Without one a command is not sent.
func (all tries) with(status string) (transaction, error) {
	for _, t := range all {
		if t.Status == status {
			return t, nil
		}
	}
	return transaction{}, fmt.Errorf("%w: %w: %s", gateway.ErrNotSent, errNoneSuch, status)
}

// outcome returns the outcome of a page: by captured or held money, else by its last
// transaction.
func (all tries) outcome(n name) (gateway.Outcome, error) {
	for _, status := range []string{"Completed", "Authorized"} {
		if t, err := all.with(status); err == nil {
			return n.outcome(t)
		}
	}
	return n.outcome(all[len(all)-1])
}
