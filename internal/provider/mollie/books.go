package mollie

import (
	"cmp"
	"context"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

const (
	// paidLater is how long after it was made a payment may be paid: a bank transfer is due within 100 days
	// (https://docs.mollie.com/reference/create-payment, "dueDate"), and a hold ends sooner.
	paidLater = 101 * 24 * time.Hour
	// reversedLater is how long after a chargeback its reversal is looked for. No limit is documented.
	reversedLater = 366 * 24 * time.Hour
	// bookPage keeps a page of payments, each with its order lines, below what a response may have.
	bookPage = "50"
)

// Entries implements gateway.Books by the lists of payments, refunds and chargebacks
// (https://docs.mollie.com/reference/list-payments, list-all-refunds, list-all-chargebacks), which have
// no filter by time. Each has the settlement that contains it; fees are in the balances only
// (https://docs.mollie.com/reference/list-balance-transactions), which an API key can't read.
//
// Captures are totals, dated by when the payment was paid. A refund has no date but that of its
// creation: one that is under way is left out, and is found by reading the same span again.
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	for _, list := range []func(context.Context, gateway.Span, func(gateway.Entry) error) error{c.paidIn, c.refundedIn, c.chargedBackIn} {
		if err := list(ctx, in, take); err != nil {
			return err
		}
	}
	return nil
}

// pass passes an entry that is in the span, whatever else the list has.
func pass(in gateway.Span, e gateway.Entry, take func(gateway.Entry) error) error {
	if !in.Has(e.Movement.At) {
		return nil
	}
	return take(e)
}

func (c *Client) paidIn(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	type listed struct {
		object

		CreatedAt    time.Time `json:"createdAt"`
		AuthorizedAt time.Time `json:"authorizedAt"`
		PaidAt       time.Time `json:"paidAt"`
		SettlementID string    `json:"settlementId"`
	}
	return each(ctx, c, "/payments", "payments", bookPage, func(p listed) (bool, error) {
		o, err := outcome(p.object)
		switch {
		case err != nil:
			return false, err
		case p.CreatedAt.Before(in.From.Add(-paidLater)):
			return false, nil
		case o.News != fsm.NewsSucceeded || o.Money == nil:
			return true, nil
		}
		return true, pass(in, gateway.Entry{
			ID: p.ID, Payment: p.ID, References: o.References, Order: payment.OrderID(texts(p.Metadata)["order_id"]), Payout: p.SettlementID,
			Movement: payment.Told{Kind: payment.MovementCapture, Money: *o.Money, At: first(p.PaidAt, p.AuthorizedAt, p.CreatedAt)},
		}, take)
	})
}

// first is the first time that there is, in UTC.
func first(times ...time.Time) time.Time { return cmp.Or(times...).UTC() }

func (c *Client) refundedIn(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	type listed struct {
		refund

		CreatedAt    time.Time `json:"createdAt"`
		PaymentID    string    `json:"paymentId"`
		SettlementID string    `json:"settlementId"`
	}
	return each(ctx, c, "/refunds", "refunds", pageSize, func(r listed) (bool, error) {
		o, err := refundOutcome(r.refund)
		switch {
		case err != nil:
			return false, err
		case r.CreatedAt.Before(in.From):
			return false, nil
		case o.News != fsm.NewsSucceeded || r.PaymentID == "":
			return true, nil
		}
		e := gateway.Entry{
			ID: r.ID, Payment: r.PaymentID, Payout: r.SettlementID,
			Movement: payment.Told{Kind: payment.MovementRefund, ID: r.ID, Money: *o.Money, At: r.CreatedAt.UTC()},
		}
		if ours := texts(r.Metadata)["payment_attempt_id"]; ours != "" {
			e.References = []string{ours}
		}
		return true, pass(in, e, take)
	})
}

func (c *Client) chargedBackIn(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	type listed struct {
		chargeback

		PaymentID    string `json:"paymentId"`
		SettlementID string `json:"settlementId"`
	}
	return each(ctx, c, "/chargebacks", "chargebacks", pageSize, func(b listed) (bool, error) {
		moved, err := b.movements()
		switch {
		case err != nil:
			return false, err
		case b.CreatedAt.Before(in.From.Add(-reversedLater)):
			return false, nil
		case b.PaymentID == "":
			return true, nil
		}
		for _, m := range moved {
			e := gateway.Entry{ID: b.ID, Payment: b.PaymentID, Payout: b.SettlementID, Movement: m}
			if m.Kind == payment.MovementChargebackReversal {
				e.ID, e.Payout = b.ID+"/reversal", "" // the settlement is that of the chargeback
			}
			if err := pass(in, e, take); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}
