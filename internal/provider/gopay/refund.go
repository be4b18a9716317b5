package gopay

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// Refund implements gateway.Provider (https://doc.gopay.com, "Refund of the payment"). The response names no
// refund: it is the one of this amount that the payment's list has after the call and had not before. Where
// that is none, or there are two, the refund stays without an id.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	id, currency := r.ProviderPaymentID, string(r.Money.Currency)
	before, err := c.refunds(ctx, id, currency, &r.Permit)
	if err != nil && !errors.Is(err, errNotListed) {
		return gateway.RefundOutcome{}, call.NotSent(err)
	}
	refused, err := c.command(ctx, id, "refund", url.Values{"amount": {strconv.FormatInt(r.Money.Minor, 10)}}, nil, r.Permit)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case refused != nil:
		return gateway.RefusedRefund(refused.code()), nil
	}
	made := gateway.RefundOutcome{News: fsm.NewsProcessing, Money: &r.Money}
	after, _ := c.refunds(ctx, id, currency, nil) // it was accepted all the same
	added := slices.DeleteFunc(after, func(one gateway.RefundOutcome) bool {
		return *one.Money != r.Money || slices.ContainsFunc(before, func(old gateway.RefundOutcome) bool { return old.ProviderRefundID == one.ProviderRefundID })
	})
	if len(added) == 1 {
		made = added[0]
	}
	return made, nil
}

// errNotListed is returned for a payment whose refunds are not found: whether that is one without refunds is
// not documented.
var errNotListed = fmt.Errorf("%w: its refunds are not found", gateway.ErrNotTold)

// refunds lists the refunds of a payment (https://doc.gopay.com, "Payment refunds"), of which the currency is
// that of the payment unless they have one.
func (c *Client) refunds(ctx context.Context, id, currency string, l *gateway.Permit) ([]gateway.RefundOutcome, error) {
	listed, err := c.list(ctx, paymentPath(id)+"/refunds", l)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return nil, errNotListed
	case err != nil:
		return nil, err
	}
	all := make([]gateway.RefundOutcome, len(listed))
	for i, r := range listed {
		if all[i], err = r.outcome(currency); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// LookupRefund implements gateway.Provider: only by GoPay's id, among the refunds of the payment.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if r.ProviderRefundID == "" {
		return gateway.RefundOutcome{}, fmt.Errorf("%w: refunds bear no mark of ours", gateway.ErrNotTold)
	}
	of, err := c.find(ctx, r.ProviderPaymentID)
	if err != nil {
		return gateway.RefundOutcome{}, noEvidence(err)
	}
	all, err := c.refunds(ctx, r.ProviderPaymentID, of.Currency, nil)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	i := slices.IndexFunc(all, func(one gateway.RefundOutcome) bool { return one.ProviderRefundID == r.ProviderRefundID })
	if i < 0 {
		return gateway.RefundOutcome{}, fmt.Errorf("%w: its payment has no such refund", gateway.ErrNoSuchPayment)
	}
	return all[i], nil
}

// noEvidence is the error of a refund whose payment was not found: that shows nothing about its refunds.
func noEvidence(err error) error {
	if errors.Is(err, gateway.ErrNoSuchPayment) {
		return fmt.Errorf("%w: there is no such payment", gateway.ErrNotTold)
	}
	return err
}

// Find implements gateway.Provider: no search of GoPay's is by our reference.
func (c *Client) Find(context.Context, payment.AttemptID) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}
