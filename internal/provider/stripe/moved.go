package stripe

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/stripe"
)

// intent returns a payment intent with its latest charge and the charge's refunds. A charge contains its refunds only if
// they are expanded (https://docs.stripe.com/changelog/2022-11-15). If a restricted key may not read them, intent
// returns the intent alone.
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

// withMoved adds the refunds and the disputes of a captured payment. The latest charge is the successful charge of a
// succeeded payment.
func (c *Client) withMoved(ctx context.Context, o *gateway.Outcome, of *stripe.PaymentIntent) error {
	charge := of.LatestCharge
	if o.Event != fsm.EventSucceeded || charge == nil {
		return nil
	}
	if err := c.withRefunds(ctx, o, of); err != nil || !charge.Disputed {
		return err
	}
	return c.withDisputes(ctx, o)
}

// withRefunds adds the refunds that the charge contains. If the charge has more refunds, it reads the list of refunds.
func (c *Client) withRefunds(ctx context.Context, o *gateway.Outcome, of *stripe.PaymentIntent) error {
	shown := of.LatestCharge.Refunds
	if shown == nil {
		return nil
	}
	add := func(r *stripe.Refund) error {
		if r.Reason == stripe.RefundReasonExpiredUncapturedCharge {
			return nil // an expired authorization: that money was never taken
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

// withDisputes adds the money movements of the payment's disputes (https://docs.stripe.com/api/disputes/list). A charge
// states only whether it has disputes. A restricted key need not have the permission to read them.
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

// addDispute adds a dispute and its movements. As in webhooks, a movement has the id of its balance transaction. Balance
// transactions show "funds withdrawn and reinstated" (https://docs.stripe.com/api/disputes/object). A lost dispute has
// withdrawn its funds.
func addDispute(o *gateway.Outcome, d *stripe.Dispute) error {
	sum, err := money(d.Amount, d.Currency)
	if err == nil && d.ID == "" {
		err = errNameless
	}
	if err != nil {
		return err
	}
	entries := entriesOfDispute(d, *sum)
	moved := payment.EntriesOf(entries)
	if len(moved) == 0 && d.Status == stripe.DisputeStatusLost {
		moved = []payment.MovementReport{{Kind: payment.MovementChargeback, Dispute: d.ID, Money: *sum}}
	}
	o.Movements = append(o.Movements, moved...)
	told := payment.DisputeReport{
		ProviderID: d.ID, Reason: string(d.Reason), Money: sum,
		Status: fsm.DisputeState(hooks.DisputeStatus(string(d.Status), hooks.Holds(entries.Entries))),
	}
	if d.EvidenceDetails != nil {
		told.DueBy = date(d.EvidenceDetails.DueBy)
	}
	if told.Status != "" {
		o.Disputes = append(o.Disputes, told)
	}
	return nil
}

// entriesOfDispute returns a dispute with the entries in its balance transactions.
func entriesOfDispute(d *stripe.Dispute, sum payment.Money) webhooks.Dispute {
	of := webhooks.Dispute{ID: d.ID}
	for _, b := range d.BalanceTransactions {
		if b == nil {
			continue
		}
		entry, moved := hooks.DisputeEntry(b.ID, b.Amount, string(b.Currency), string(b.ReportingCategory), date(b.Created), sum.Wire())
		if moved {
			of.Entries = append(of.Entries, entry)
		}
	}
	slices.SortStableFunc(of.Entries, func(x, y webhooks.DisputeEntry) int { return x.At.Compare(y.At) })
	return of
}

// date returns the zero time for 0.
func date(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
