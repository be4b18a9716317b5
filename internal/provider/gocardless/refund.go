package gocardless

import (
	"context"
	"errors"
	"fmt"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// refundRequest creates a refund (https://developer.gocardless.com/api-reference/#refunds-create-a-refund). Total is the
// sum of all refunds of the payment, including this refund. GoCardless refuses another sum, which prevents two
// concurrent refunds.
type refundRequest struct {
	Amount   int64             `json:"amount"`
	Total    int64             `json:"total_amount_confirmation"`
	Metadata map[string]string `json:"metadata"`
	Links    links             `json:"links"`
}

// reasonTotal is the reason for a total that is not the payment's current total.
const reasonTotal = "total_amount_confirmation_invalid"

var errTotal = errors.New("the payment has had another refund since it was read")

// Refund implements gateway.Provider. It first reads the payment and its refunds, to calculate the total. A refund with
// our id was created by an earlier call, and Refund returns it. GoCardless enables refunds for each account, and answers
// 403 until then (the adapter of payfanout). Refund does not send our reason.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	amount, err := digits.Units(r.Money)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	p, err := c.refunded(ctx, r.ProviderPaymentID, &r.Permit)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, kit.NotSent(err)
	case p.Currency != string(r.Money.Currency):
		return gateway.RefundOutcome{}, fmt.Errorf("%w: a refund in %s of a payment in %s", gateway.ErrUnsupportedRequest, r.Money.Currency, p.Currency)
	}
	all, err := c.refunds(ctx, p.ID)
	if err != nil {
		return gateway.RefundOutcome{}, kit.NotSent(err)
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

// sendRefund sends a refund. If the total has changed since the lookup, the outcome is unknown: no refund was created
// and the key is unused.
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
