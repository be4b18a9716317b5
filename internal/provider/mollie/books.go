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
	"github.com/paylatch/paylatch/internal/provider/kit"
)

const (
	// paidLater is the longest time between a payment's creation and its payment. A bank transfer is due within 100 days
	// (https://docs.mollie.com/reference/create-payment, "dueDate"), and a hold ends sooner.
	paidLater = 101 * 24 * time.Hour
	// reversedLater is our limit for the time between a chargeback and its reversal. Mollie documents none.
	reversedLater = 366 * 24 * time.Hour
	// settledLater is the longest time until a payment names its settlement. Settlements are at most a month apart, and a settlement itself
	// takes some days. A refund succeeds sooner.
	settledLater = 40 * 24 * time.Hour
	// bookPage keeps a page of payments with their order lines below the size limit of a response.
	bookPage = "50"
)

// Entries implements gateway.Books. It reads the lists of payments, refunds and chargebacks
// (https://docs.mollie.com/reference/list-payments, list-all-refunds, list-all-chargebacks), which have no filter by
// time. Each item names the settlement that contains it. Fees are only in the balances
// (https://docs.mollie.com/reference/list-balance-transactions), and amounts of settlements in their list
// (https://docs.mollie.com/reference/list-settlements). An API key can't read either of them.
//
// Captures are totals, dated by the payment, and grow while a hold lasts. A refund has only the date of its creation. Entries omits a pending refund;
// a later read of the same span finds it. A failed refund is a reversal without a date, even if it was never "refunded".
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	unread := &kit.Unread{}
	if err := each(ctx, c, "/payments", "payments", bookPage, passing[listedPayment](unread, in, paidLater, take)); err != nil {
		return err
	}
	if err := each(ctx, c, "/refunds", "refunds", pageSize, passing[listedRefund](unread, in, 0, take)); err != nil {
		return err
	}
	return unread.After(each(ctx, c, "/chargebacks", "chargebacks", pageSize, passing[listedChargeback](unread, in, reversedLater, take)))
}

// booked is an object with entries.
type booked interface {
	// dated returns the time of the object's creation, and the times of its money movements.
	dated() (made time.Time, moved []time.Time)
	entries() ([]gateway.Entry, error)
}

// passing returns a function that passes an item's entries in the span. The function returns false for an item that was
// created too long before the span to have entries in it. It does not read the amounts of an item that moved no money in
// the span.
func passing[T booked](unread *kit.Unread, in gateway.Span, later time.Duration, take func(gateway.Entry) error) func(json.RawMessage) (bool, error) {
	return func(item json.RawMessage) (more bool, err error) {
		more = true
		err = kit.Pass(unread, item, func(one T) ([]gateway.Entry, error) {
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
			return slices.DeleteFunc(entries, func(e gateway.Entry) bool { return !e.Movement.At.IsZero() && !in.Has(e.Movement.At) }), err
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
	if o.Event != fsm.EventSucceeded || o.Money == nil {
		return nil, nil
	}
	return []gateway.Entry{{
		ID: p.ID, Payment: p.ID, References: o.References, Order: payment.OrderID(texts(p.Metadata)["order_id"]), Payout: p.SettlementID, Payee: o.Payee, Live: o.Live,
		Grows: true, Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: *o.Money, At: first(p.PaidAt, p.AuthorizedAt, p.CreatedAt)},
	}}, nil
}

// first returns the first time that is not zero, in UTC.
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
	e := gateway.Entry{
		ID: r.ID, Payment: r.PaymentID, Payout: r.SettlementID,
		Movement: payment.MovementReport{Kind: payment.MovementRefund, ID: r.ID, Money: *o.Money, At: r.CreatedAt.UTC()},
	}
	switch {
	case r.PaymentID == "":
		return nil, nil
	case r.Status == "failed": // "the funds will be returned to your account" (https://docs.mollie.com/docs/refunds)
		e.ID, e.Undoes, e.Payout = r.ID+"/reversal", r.ID, "" // the settlement is the refund's
		e.Movement.Kind, e.Movement.At = payment.MovementRefundReversal, time.Time{}
	case o.Event != fsm.EventSucceeded:
		return nil, nil
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
			e.ID, e.Payout = b.ID+"/reversal", "" // the settlement is the chargeback's
		}
		all = append(all, e)
	}
	return all, nil
}
