package lemonsqueezy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// refundedLater is our limit for the time between an order's creation and a refund that the books still read. A seller
// may refund at any time, and Lemon Squeezy itself within 60 days
// (https://docs.lemonsqueezy.com/help/payments/refunds-chargebacks).
const refundedLater = 120 * 24 * time.Hour

// Entries implements gateway.Books. It reads the list of the store's orders
// (https://docs.lemonsqueezy.com/api/orders/list-all-orders), the newest first. The list has no filter by time. Its
// pages are numbered, so a new order shifts other orders to the next page, where they are passed again. Orders of the
// other mode than the account's mode are omitted.
//
// An order has no mark of ours. It is named as in its webhook. An order without a webhook belongs to no attempt. A
// refund has no id. All refunds of an order are one entry, which grows. It is dated by the full refund, or else by the order's last change.
// A chargeback is a refund in most cases. The list shows no fee and no payout. Renewals of subscriptions create no
// orders.
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	unread := &kit.Unread{}
	query := url.Values{"filter[store_id]": {c.store.ID}, "page[size]": {pageOf100}}
	for number, last := 1, 1; number <= last; number++ {
		query.Set("page[number]", strconv.Itoa(number))
		var items []json.RawMessage
		var err error
		if items, last, err = pageOf[json.RawMessage](ctx, c, "/orders", query); err != nil {
			return fmt.Errorf("list orders: %w", err)
		}
		for _, item := range items {
			older := false
			err := kit.Pass(unread, item, func(o object[listedOrder]) ([]gateway.Entry, error) {
				made := o.Attributes.CreatedAt
				older = !made.IsZero() && made.Before(in.From.Add(-refundedLater))
				return c.entries(o, in)
			}, take)
			if err != nil {
				return err
			}
			if older {
				return unread.Err()
			}
		}
	}
	return unread.Err()
}

// listedOrder is an order with its dates (https://docs.lemonsqueezy.com/api/orders/the-order-object).
type listedOrder struct {
	order

	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
	RefundedAt time.Time `json:"refunded_at"`
}

// has reports whether a change of the order may be in the span.
func (o listedOrder) has(in gateway.Span) bool {
	return slices.ContainsFunc([]time.Time{o.CreatedAt, o.UpdatedAt, o.RefundedAt}, in.Has)
}

// entries returns the capture of a paid order, named by the order as in its webhook, and the total of its refunds. An
// order of zero has no capture.
func (c *Client) entries(o object[listedOrder], in gateway.Span) ([]gateway.Entry, error) {
	a := o.Attributes
	switch {
	case a.CreatedAt.IsZero():
		return nil, fmt.Errorf("order %s: %w", o.ID, errUndated)
	case !a.has(in), (a.TestMode != nil && *a.TestMode) != c.store.Test:
		return nil, nil
	}
	stands, err := outcome(object[order]{Type: o.Type, ID: o.ID, Attributes: a.order})
	switch {
	case err != nil:
		return nil, fmt.Errorf("order %s: %w", o.ID, err)
	case stands.Event != fsm.EventSucceeded || stands.Money.Minor == 0:
		return nil, nil
	}
	all := []gateway.Entry{{
		ID: o.ID, Payment: o.ID, References: stands.References, Payee: stands.Payee, Live: stands.Live,
		Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: *stands.Money, At: a.CreatedAt.UTC()},
	}}
	if a.RefundedAmount == 0 {
		return all, nil
	}
	back, err := a.money(a.RefundedAmount)
	if err != nil {
		return nil, fmt.Errorf("order %s: %w", o.ID, err)
	}
	return append(all, gateway.Entry{
		ID: o.ID + "/refund", Grows: true, Payment: o.ID, References: stands.References, Payee: stands.Payee, Live: stands.Live,
		Movement: payment.MovementReport{Kind: payment.MovementRefund, Money: *back, At: cmp.Or(a.RefundedAt, a.UpdatedAt, a.CreatedAt).UTC()},
	}), nil
}
