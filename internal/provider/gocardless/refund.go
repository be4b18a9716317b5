package gocardless

import (
	"context"
	"errors"
	"fmt"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// refundRequest makes a refund (https://developer.gocardless.com/api-reference/#refunds-create-a-refund). Total is the sum of
// all refunds of the payment with this one; another one is refused, which keeps two from being made beside each other.
type refundRequest struct {
	Amount   int64             `json:"amount"`
	Total    int64             `json:"total_amount_confirmation"`
	Metadata map[string]string `json:"metadata"`
	Links    links             `json:"links"`
}

// reasonTotal is that of a total that is no longer the payment's.
const reasonTotal = "total_amount_confirmation_invalid"

var errTotal = errors.New("the payment has had another refund since it was read")

// Refund implements gateway.Provider. The payment and its refunds are read first: the total comes from there, and a refund
// with our id is the one that an earlier call has made, whatever became of its answer. Refunds are switched on by
// GoCardless for each account, and refused with 403 until then (the adapter of payfanout); our reason is not sent.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	amount, err := digits.Units(r.Money)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	p, err := c.refunded(ctx, r.ProviderPaymentID, &r.Permit)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, call.NotSent(err)
	case p.Currency != string(r.Money.Currency):
		return gateway.RefundOutcome{}, fmt.Errorf("%w: a refund in %s of a payment in %s", gateway.ErrUnfit, r.Money.Currency, p.Currency)
	}
	all, err := c.refunds(ctx, p.ID)
	if err != nil {
		return gateway.RefundOutcome{}, call.NotSent(err)
	}
	for _, one := range all {
		if one.Reference == r.Refund.String() {
			return one, nil
		}
	}
	return c.sendRefund(ctx, r, refundRequest{
		Amount: amount, Total: p.AmountRefunded + amount, Links: links{Payment: p.ID},
		Metadata: map[string]string{refundName: r.Refund.String(), attemptName: r.Attempt.String()},
	})
}

// sendRefund sends a refund. A total that has changed meanwhile leaves it open: nothing was made, and the key is unused.
func (c *Client) sendRefund(ctx context.Context, r gateway.RefundCall, body refundRequest) (gateway.RefundOutcome, error) {
	var made struct {
		Refund refund `json:"refunds"`
	}
	refused, err := c.create(ctx, "refunds", r.IdempotencyKey, r.Permit, body, &made)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case refused != nil && refused.has(reasonTotal):
		return gateway.RefundOutcome{}, errTotal
	case refused != nil:
		return gateway.RefusedRefund(refused.code()), nil
	}
	return refundOutcome(made.Refund)
}
