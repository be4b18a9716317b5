package mollie

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
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
	unread := &call.Unread{}
	if err := each(ctx, c, "/payments", "payments", bookPage, passing[listedPayment](unread, in, paidLater, take)); err != nil {
		return err
	}
	if err := each(ctx, c, "/refunds", "refunds", pageSize, passing[listedRefund](unread, in, 0, take)); err != nil {
		return err
	}
	return unread.After(each(ctx, c, "/chargebacks", "chargebacks", pageSize, passing[listedChargeback](unread, in, reversedLater, take)))
}

// booked is what has entries.
type booked interface {
	// dated returns when it was made, and when it moved money.
	dated() (made time.Time, moved []time.Time)
	entries() ([]gateway.Entry, error)
}

// passing passes the entries of an item that are in a span, whatever else the list has; it returns false for one
// that was made too long before to have any. What moved nothing in the span is not read.
func passing[T booked](unread *call.Unread, in gateway.Span, later time.Duration, take func(gateway.Entry) error) func(json.RawMessage) (bool, error) {
	return func(item json.RawMessage) (more bool, err error) {
		more = true
		err = call.Pass(unread, item, func(one T) ([]gateway.Entry, error) {
			made, moved := one.dated()
			switch {
			case made.IsZero():
				return nil, errNameless
			case made.Before(in.From.Add(-later)):
				more = false
				return nil, nil
			case !slices.ContainsFunc(moved, in.Has):
				return nil, nil
			}
			entries, err := one.entries()
			return slices.DeleteFunc(entries, func(e gateway.Entry) bool { return !in.Has(e.Movement.At) }), err
		}, take)
		return more, err
	}
}

type listedPayment struct {
	object

	CreatedAt    time.Time `json:"createdAt"`
	AuthorizedAt time.Time `json:"authorizedAt"`
	PaidAt       time.Time `json:"paidAt"`
	SettlementID string    `json:"settlementId"`
}

func (p listedPayment) dated() (made time.Time, moved []time.Time) {
	return p.CreatedAt, []time.Time{first(p.PaidAt, p.AuthorizedAt, p.CreatedAt)}
}

func (p listedPayment) entries() ([]gateway.Entry, error) {
	o, err := outcome(p.object)
	if err != nil {
		return nil, fmt.Errorf("payment %s: %w", p.ID, err)
	}
	if o.News != fsm.NewsSucceeded || o.Money == nil {
		return nil, nil
	}
	return []gateway.Entry{{
		ID: p.ID, Payment: p.ID, References: o.References, Order: payment.OrderID(texts(p.Metadata)["order_id"]), Payout: p.SettlementID, Payee: o.Payee, Live: o.Live,
		Movement: payment.Told{Kind: payment.MovementCapture, Money: *o.Money, At: first(p.PaidAt, p.AuthorizedAt, p.CreatedAt)},
	}}, nil
}

// first is the first time that there is, in UTC.
func first(times ...time.Time) time.Time { return cmp.Or(times...).UTC() }

type listedRefund struct {
	refund

	CreatedAt    time.Time `json:"createdAt"`
	PaymentID    string    `json:"paymentId"`
	SettlementID string    `json:"settlementId"`
}

func (r listedRefund) dated() (made time.Time, moved []time.Time) {
	return r.CreatedAt, []time.Time{r.CreatedAt}
}

func (r listedRefund) entries() ([]gateway.Entry, error) {
	o, err := refundOutcome(r.refund)
	if err != nil {
		return nil, fmt.Errorf("refund %s: %w", r.ID, err)
	}
	if o.News != fsm.NewsSucceeded || r.PaymentID == "" {
		return nil, nil
	}
	e := gateway.Entry{
		ID: r.ID, Payment: r.PaymentID, Payout: r.SettlementID,
		Movement: payment.Told{Kind: payment.MovementRefund, ID: r.ID, Money: *o.Money, At: r.CreatedAt.UTC()},
	}
	if ours := texts(r.Metadata)["payment_attempt_id"]; ours != "" {
		e.References = []string{ours}
	}
	return []gateway.Entry{e}, nil
}

type listedChargeback struct {
	chargeback

	PaymentID    string `json:"paymentId"`
	SettlementID string `json:"settlementId"`
}

func (b listedChargeback) dated() (made time.Time, moved []time.Time) {
	return b.CreatedAt, []time.Time{b.CreatedAt, b.ReversedAt}
}

func (b listedChargeback) entries() (all []gateway.Entry, err error) {
	moved, err := b.movements()
	if err != nil {
		return nil, fmt.Errorf("chargeback %s: %w", b.ID, err)
	}
	if b.PaymentID == "" {
		return nil, nil
	}
	for _, m := range moved {
		e := gateway.Entry{ID: b.ID, Payment: b.PaymentID, Payout: b.SettlementID, Movement: m}
		if m.Kind == payment.MovementChargebackReversal {
			e.ID, e.Payout = b.ID+"/reversal", "" // the settlement is that of the chargeback
		}
		all = append(all, e)
	}
	return all, nil
}
