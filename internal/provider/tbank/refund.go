package tbank

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Refund implements payment.Provider ("Cancel" of what was confirmed). A refund
// has no id but the one that we give it, which the bank remembers for cards and
// not for SBP.
func (c *Client) Refund(ctx context.Context, r payment.RefundCall) (payment.RefundOutcome, error) {
	if err := c.sells(r.Money); err != nil {
		return payment.RefundOutcome{}, err
	}
	a, err := c.command(ctx, "Cancel", request{
		PaymentID: r.ProviderPaymentID, Amount: r.Money.Minor, ExternalRequestID: r.IdempotencyKey,
	}, r.Licence)
	switch {
	case err != nil:
		return payment.RefundOutcome{}, err
	case a.Success && a.Status == "":
		return payment.RefundOutcome{}, errNameless
	case a.Success:
		return c.paidBack(a, r.IdempotencyKey), nil
	case a.definitive():
		return payment.RefusedRefund(string(a.ErrorCode)), nil
	}
	return payment.RefundOutcome{}, a.said()
}

func (c *Client) paidBack(a answer, key string) payment.RefundOutcome {
	o := payment.RefundOutcome{News: refundNews(a.Status), ProviderRefundID: cmp.Or(a.ExternalRequestID, key)}
	if a.OriginalAmount != nil && a.NewAmount != nil && *a.OriginalAmount > *a.NewAmount {
		back := *a.OriginalAmount - *a.NewAmount
		o.Money = c.money(&back)
	}
	return o
}

// refundNews reads the status of a payment of which money was asked back. A hold
// that was released has been paid back, too.
func refundNews(status string) fsm.News {
	switch status {
	case "REFUNDED", "PARTIAL_REFUNDED", "REVERSED", "PARTIAL_REVERSED":
		return fsm.NewsSucceeded
	}
	return fsm.NewsProcessing
}

var errNoLookup = fmt.Errorf("%w: T-Bank can't be asked for a refund, and the payment leaves it open", payment.ErrNotTold)

// LookupRefund implements payment.Provider as far as the payment's own state
// leaves no doubt: all was paid back, all is on its way, or nothing was. The bank
// has no call that names a refund, see Capabilities.
func (c *Client) LookupRefund(ctx context.Context, r payment.RefundRef) (payment.RefundOutcome, error) {
	a, err := c.state(ctx, r.ProviderPaymentID)
	switch {
	case errors.Is(err, payment.ErrNoSuchPayment):
		return payment.RefundOutcome{}, errNoLookup
	case err != nil:
		return payment.RefundOutcome{}, err
	}
	switch a.Status {
	case "REFUNDED":
		return payment.RefundOutcome{News: fsm.NewsSucceeded, ProviderRefundID: r.ProviderRefundID}, nil
	case "CONFIRMED":
		return payment.RefundOutcome{}, payment.ErrNoSuchPayment
	}
	return payment.RefundOutcome{}, errNoLookup
}
