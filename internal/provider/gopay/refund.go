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
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Refund implements gateway.Provider (https://doc.gopay.com, "Refund of the payment"). The response contains no refund
// id. So Refund lists the payment's refunds before and after the call, and takes the id of the new refund with this
// amount. If there is no such refund, or there are two, the outcome has no id.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	id, currency := r.ProviderPaymentID, string(r.Money.Currency)
	before, err := c.refunds(ctx, id, currency, &r.Permit)
	if err != nil && !errors.Is(err, errNotListed) {
		return gateway.RefundOutcome{}, kit.NotSent(err)
	}
	refused, err := c.command(ctx, id, "refund", url.Values{"amount": {strconv.FormatInt(r.Money.Minor, 10)}}, nil, r.Permit)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case refused != nil:
		return gateway.RefusedRefund(refused.code()), nil
	}
	made := gateway.RefundOutcome{Event: fsm.EventProcessing, Money: &r.Money}
	after, _ := c.refunds(ctx, id, currency, nil) // the refund was accepted nevertheless
	added := slices.DeleteFunc(after, func(one gateway.RefundOutcome) bool {
		return *one.Money != r.Money || slices.ContainsFunc(before, func(old gateway.RefundOutcome) bool { return old.ProviderRefundID == one.ProviderRefundID })
	})
	if len(added) == 1 {
		made = added[0]
	}
	return made, nil
}

// errNotListed is returned if the payment's refunds are not found. GoPay does not document whether this happens for a
// payment without refunds.
var errNotListed = fmt.Errorf("%w: its refunds are not found", gateway.ErrInconclusive)

// refunds lists the refunds of a payment (https://doc.gopay.com, "Payment refunds"). A refund without a currency has the
// payment's currency.
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

// LookupRefund implements gateway.Provider. It finds a refund only by GoPay's id, in the list of the payment's refunds.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if r.ProviderRefundID == "" {
		return gateway.RefundOutcome{}, fmt.Errorf("%w: GoPay's refunds do not contain paylatch's id", gateway.ErrInconclusive)
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

// noEvidence replaces gateway.ErrNoSuchPayment for a refund's payment, because a missing payment is no evidence about
// its refunds.
func noEvidence(err error) error {
	if errors.Is(err, gateway.ErrNoSuchPayment) {
		return fmt.Errorf("%w: there is no such payment", gateway.ErrInconclusive)
	}
	return err
}

// Find implements gateway.Provider. GoPay has no search by our reference.
func (c *Client) Find(context.Context, payment.AttemptID) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}
