package stripe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

const transactionsPath = "/v1/balance_transactions"

// Entries implements gateway.Books by the balance transactions that were created in the span
// (https://docs.stripe.com/api/balance_transactions/list), and then by those of the automatic payouts that
// were. No transaction names its payout, and those of a manual one are not listed
// (https://docs.stripe.com/payouts/reconciliation): their entries have none. A debit that is still pending
// is no capture: it is passed with its payout, once it has succeeded.
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	unread := &call.Unread{}
	all := &stripe.BalanceTransactionListParams{CreatedRange: created(in)}
	if err := c.transactions(ctx, all, unread, take); err != nil {
		return err
	}
	paid := &stripe.PayoutListParams{CreatedRange: created(in)}
	err := c.list(ctx, "/v1/payouts", paid, &paid.ListParams, func(item json.RawMessage) error {
		var ids []string
		keep := func(id string) error { ids = append(ids, id); return nil }
		if err := call.Pass(unread, item, automatic, keep); err != nil || len(ids) == 0 {
			return err
		}
		return c.transactions(ctx, &stripe.BalanceTransactionListParams{Payout: &ids[0]}, unread, take)
	})
	return unread.After(err)
}

// transactions passes those that are about payments.
func (c *Client) transactions(ctx context.Context, params *stripe.BalanceTransactionListParams, unread *call.Unread, take func(gateway.Entry) error) error {
	params.AddExpand("data.source")
	return c.list(ctx, transactionsPath, params, &params.ListParams, func(item json.RawMessage) error {
		return call.Pass(unread, item, func(b stripe.BalanceTransaction) ([]gateway.Entry, error) {
			found, err := entriesOf(b)
			if err != nil {
				return nil, fmt.Errorf("balance transaction %s: %w", b.ID, err)
			}
			for i := range found {
				if params.Payout != nil {
					found[i].Payout = *params.Payout
				}
			}
			return found, nil
		}, take)
	})
}

// automatic is the payout's id; none for one whose transactions Stripe does not list.
func automatic(p stripe.Payout) ([]string, error) {
	switch {
	case p.ID == "":
		return nil, errNameless
	case !p.Automatic:
		return nil, nil
	}
	return []string{p.ID}, nil
}

var errSourceless = errors.New("it has no source of its type")

// entriesOf are the entry of a transaction by its type, none for one that moves no payment's money
// (https://docs.stripe.com/reports/balance-transaction-types). The money is that of the source: that of the
// transaction is in the currency of the balance.
func entriesOf(b stripe.BalanceTransaction) ([]gateway.Entry, error) {
	if b.ID == "" || b.Created <= 0 {
		return nil, errNameless
	}
	source := b.Source
	if source == nil {
		source = &stripe.BalanceTransactionSource{}
	}
	e := gateway.Entry{ID: b.ID}
	var err error
	switch b.Type { //nolint:exhaustive // the others move no payment's money
	case stripe.BalanceTransactionTypeCharge, stripe.BalanceTransactionTypePayment:
		err = charged(&e, source.Charge)
	case stripe.BalanceTransactionTypeRefund, stripe.BalanceTransactionTypePaymentRefund, stripe.BalanceTransactionTypeRefundFailure:
		err = refunded(&e, source.Refund, b.Amount)
	case stripe.BalanceTransactionTypeAdjustment:
		err = disputed(&e, source.Dispute, b)
	}
	if err != nil || e.Movement.Kind == "" {
		return nil, err
	}
	e.Movement.At = time.Unix(b.Created, 0).UTC()
	if e.Fee, err = signed(b.Fee, b.Currency); err == nil {
		e.Net, err = signed(b.Net, b.Currency)
	}
	return []gateway.Entry{e}, err
}

// charged is the capture of a charge, all that was captured of it: a total, as the payment intent's
// amount_received is. A charge that is pending, or has failed since, captured nothing.
func charged(e *gateway.Entry, of *stripe.Charge) error {
	switch {
	case of == nil || of.ID == "":
		return errSourceless
	case of.Status != stripe.ChargeStatusSucceeded || of.AmountCaptured == 0:
		return nil
	}
	named(e, of.PaymentIntent, of, of.Metadata)
	e.Live = &of.Livemode
	return moved(e, payment.MovementCapture, "", of.AmountCaptured, of.Currency)
}

// refunded is a refund, or, of a positive amount, its money that came back since the refund failed.
func refunded(e *gateway.Entry, of *stripe.Refund, balance int64) error {
	if of == nil || of.ID == "" {
		return errSourceless
	}
	named(e, of.PaymentIntent, of.Charge, of.Metadata)
	kind := payment.MovementRefund
	if balance > 0 {
		kind = payment.MovementRefundReversal
	}
	return moved(e, kind, of.ID, of.Amount, of.Currency)
}

// disputed is what a dispute withdrew, or reinstated, named by the transaction; none for an adjustment of another source.
func disputed(e *gateway.Entry, of *stripe.Dispute, b stripe.BalanceTransaction) error {
	if of == nil || b.Amount == 0 {
		return nil
	}
	sum, err := money(of.Amount, of.Currency)
	if err == nil && of.ID == "" {
		err = errSourceless
	}
	if err != nil {
		return err
	}
	e.Live = &of.Livemode
	of.BalanceTransactions = []*stripe.BalanceTransaction{&b}
	for _, told := range entriesOfDispute(of, *sum) {
		named(e, of.PaymentIntent, of.Charge, of.Metadata)
		e.Movement = told
	}
	return nil
}

func moved(e *gateway.Entry, kind payment.MovementKind, id string, units int64, currency stripe.Currency) error {
	sum, err := money(units, currency)
	if err == nil {
		e.Movement = payment.Told{Kind: kind, ID: id, Money: *sum}
	}
	return err
}

// named adds the names of the payment: the intent, or the charge where there is none, as webhooks do. A charge
// has the metadata of its intent (https://docs.stripe.com/api/charges/object#charge_object-metadata).
func named(e *gateway.Entry, intent *stripe.PaymentIntent, of *stripe.Charge, metadata map[string]string) {
	if intent != nil {
		e.Payment = intent.ID
	}
	if id := metadata["payment_attempt_id"]; id != "" {
		e.References = append(e.References, id)
	}
	if of != nil && of.ID != "" {
		e.Payment = cmp.Or(e.Payment, of.ID)
		e.References = append(e.References, of.ID)
	}
	e.Order = payment.OrderID(metadata["order_id"])
}

// signed is money that may be negative: taken from the balance.
func signed(units int64, currency stripe.Currency) (*payment.Money, error) {
	sum, err := money(max(units, -units), currency)
	if err == nil && units < 0 {
		sum.Minor = -sum.Minor
	}
	return sum, err
}
