package stripe

import (
	"context"
	"errors"
	"time"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	hooks "github.com/paylatch/paylatch/webhooks/stripe"
)

// intent returns a payment intent with its latest charge and the refunds of that, which a charge contains only if they are
// expanded (https://docs.stripe.com/changelog/2022-11-15). A restricted key that may not read them gets the intent alone.
func (c *Client) intent(ctx context.Context, id string) (*stripe.PaymentIntent, error) {
	var found stripe.PaymentIntent
	expanded := &stripe.PaymentIntentRetrieveParams{}
	expanded.AddExpand("latest_charge.refunds")
	err := c.get(ctx, intentPath(id), expanded, &found)
	if errors.Is(err, errForbidden) {
		found = stripe.PaymentIntent{}
		err = c.get(ctx, intentPath(id), &stripe.PaymentIntentRetrieveParams{}, &found)
	}
	return &found, err
}

// withMoved adds the refunds and the disputes of a captured payment. The charge of a payment that has succeeded is its
// latest one.
func (c *Client) withMoved(ctx context.Context, o *gateway.Outcome, of *stripe.PaymentIntent) error {
	charge := of.LatestCharge
	if o.News != fsm.NewsSucceeded || charge == nil {
		return nil
	}
	if err := c.withRefunds(ctx, o, of); err != nil || !charge.Disputed {
		return err
	}
	return c.withDisputes(ctx, o)
}

// withRefunds takes the refunds from the charge, or, where it has more of them than it contains, from their list.
func (c *Client) withRefunds(ctx context.Context, o *gateway.Outcome, of *stripe.PaymentIntent) error {
	shown := of.LatestCharge.Refunds
	if shown == nil {
		return nil
	}
	add := func(r *stripe.Refund) error {
		if r.Reason == stripe.RefundReasonExpiredUncapturedCharge {
			return nil // a hold that ran out: that money was never taken
		}
		one, err := refundOutcome(r)
		if err == nil {
			o.Refunds = append(o.Refunds, one)
		}
		return err
	}
	if shown.HasMore {
		return c.eachRefund(ctx, of.ID, func(r *stripe.Refund) (bool, error) { return false, add(r) })
	}
	for _, r := range shown.Data {
		if err := add(r); err != nil {
			return err
		}
	}
	return nil
}

// withDisputes adds what the payment's disputes took and returned (https://docs.stripe.com/api/disputes/list). A charge does
// not contain them, only that there are any. A restricted key need not read them.
func (c *Client) withDisputes(ctx context.Context, o *gateway.Outcome) error {
	params := &stripe.DisputeListParams{PaymentIntent: &o.ProviderPaymentID}
	params.Limit = new(int64(pageSize))
	var listed page[stripe.Dispute]
	switch err := c.get(ctx, "/v1/disputes", params, &listed); {
	case errors.Is(err, errForbidden):
		return nil
	case errors.Is(err, gateway.ErrNoSuchPayment), err == nil && listed.Data == nil:
		return errNameless
	case err != nil:
		return err
	}
	for i := range listed.Data {
		if err := addDispute(o, &listed.Data[i]); err != nil {
			return err
		}
	}
	return nil
}

// addDispute adds a dispute and its movements, named as the webhooks and the balance transactions of it name them. Those
// show "funds withdrawn and reinstated" (https://docs.stripe.com/api/disputes/object); one that is lost has withdrawn them.
func addDispute(o *gateway.Outcome, d *stripe.Dispute) error {
	sum, err := money(d.Amount, d.Currency)
	if err == nil && d.ID == "" {
		err = errNameless
	}
	if err != nil {
		return err
	}
	var taken, returned int64
	for _, moved := range d.BalanceTransactions {
		switch {
		case moved == nil:
		case moved.Amount < 0:
			taken = moved.Created
		case moved.Amount > 0:
			returned = moved.Created
		}
	}
	if taken != 0 || d.Status == stripe.DisputeStatusLost {
		o.Movements = append(o.Movements, payment.Told{Kind: payment.MovementChargeback, ID: d.ID, Money: *sum, At: date(taken)})
	}
	if returned != 0 {
		o.Movements = append(o.Movements, payment.Told{Kind: payment.MovementChargebackReversal, ID: d.ID, Money: *sum, At: date(returned)})
	}
	told := payment.DisputeTold{
		ProviderID: d.ID, Status: fsm.DisputeState(hooks.DisputeStatus(string(d.Status))), Reason: string(d.Reason), Money: sum,
	}
	if d.EvidenceDetails != nil {
		told.DueBy = date(d.EvidenceDetails.DueBy)
	}
	if told.Status != "" {
		o.Disputes = append(o.Disputes, told)
	}
	return nil
}

// date is zero for none.
func date(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
