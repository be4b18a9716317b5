package braintree

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

var errUnsettled = fmt.Errorf("%w: braintree refunds nothing before it settles", gateway.ErrInconclusive)

// Refund implements gateway.Provider ("Transaction: Refund"). The refund's order_id is our refund id. Refund first
// searches the payment's refunds for this id, and returns the refund that it finds. A payment that has not begun to
// settle can't be refunded (error 91506), so nothing is sent. Braintree has no field for a reason.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	amount, err := c.amount(r.Money)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	of, err := c.transaction(ctx, r.ProviderPaymentID, &r.Permit)
	if err != nil {
		return gateway.RefundOutcome{}, kit.NotSent(err)
	}
	switch made, err := c.named(ctx, of, r.Refund); {
	case err == nil:
		return made.refund()
	case !errors.Is(err, gateway.ErrNoSuchPayment):
		return gateway.RefundOutcome{}, kit.NotSent(err)
	case of.Status == submitted:
		return gateway.RefundOutcome{}, kit.NotSent(errUnsettled)
	}
	made, refused, err := c.command(ctx, http.MethodPost, transactionPath(r.ProviderPaymentID)+"/refund", r.Permit,
		body{change{Amount: amount, OrderID: r.Refund.String(), Key: c.key(r.IdempotencyKey)}})
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case refused.open():
		return gateway.RefundOutcome{}, refused
	case refused != nil && refused.transaction == nil:
		return gateway.RefusedRefund(refused.code()), nil
	case refused != nil:
		return refused.transaction.refund()
	}
	return made.refund()
}

// LookupRefund implements gateway.Provider. It finds a refund by Braintree's id, or by our id among the payment's
// refunds.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	var found transaction
	var err error
	switch {
	case r.ProviderRefundID != "":
		found, err = c.transaction(ctx, r.ProviderRefundID, nil)
	case r.ProviderPaymentID == "":
		err = gateway.ErrNoSuchPayment
	default:
		found, err = c.byReference(ctx, r)
	}
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	return found.refund()
}

var errNoSale = errors.New("braintree does not have the payment of a refund")

// byReference looks up a refund by our id. A missing payment is no proof that the payment was not refunded.
func (c *Client) byReference(ctx context.Context, r gateway.RefundRef) (transaction, error) {
	of, err := c.transaction(ctx, r.ProviderPaymentID, nil)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return transaction{}, errNoSale
	case err != nil:
		return transaction{}, err
	}
	return c.named(ctx, of, r.Refund)
}

// named returns the payment's refund with our id. It returns gateway.ErrNoSuchPayment if there is no such refund.
func (c *Client) named(ctx context.Context, of transaction, id payment.RefundID) (transaction, error) {
	refunds, err := c.refunds(ctx, of)
	if err != nil {
		return transaction{}, err
	}
	for _, r := range refunds {
		if r.OrderID == id.String() {
			return r, nil
		}
	}
	return transaction{}, gateway.ErrNoSuchPayment
}

// refunds returns a payment's refunds. The payment contains only their ids.
func (c *Client) refunds(ctx context.Context, of transaction) ([]transaction, error) {
	if of.ID == "" {
		return nil, errNameless
	}
	var all []transaction
	for _, id := range of.Refunds {
		r, err := c.transaction(ctx, id, nil)
		switch {
		case errors.Is(err, gateway.ErrNoSuchPayment):
			return nil, errListed
		case err != nil:
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// refund maps a refund transaction. The refund succeeds when it is settled. If its settlement is declined, it fails
// (refund_failed).
func (t transaction) refund() (gateway.RefundOutcome, error) {
	if t.ID == "" || t.Status == "" || t.Type != credit || t.Refunded == "" {
		return gateway.RefundOutcome{}, errNameless
	}
	o := gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: t.ID, ProviderPaymentID: t.Refunded, Reference: t.OrderID}
	switch t.Status {
	case settled, "settlement_confirmed":
		o.Event = fsm.EventSucceeded
	default:
		if t.news() == fsm.EventFailed {
			o.Event, o.Failure = fsm.EventFailed, t.failure()
		}
	}
	var err error
	o.Money, err = kit.ReadDecimal(t.Amount, t.Currency)
	return o, err
}
