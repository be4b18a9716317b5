package paddle

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// approvedLater is our limit for the time between an adjustment's creation and its approval. Paddle documents no time
// for its review of refunds.
const approvedLater = 60 * 24 * time.Hour

// Entries implements gateway.Books. It reads the lists of transactions and adjustments
// (https://developer.paddle.com/api-reference/transactions/list-transactions.md, …/adjustments/list-adjustments.md).
//
// A transaction that was captured in the span was created before the span's end and changed after the span's begin. This
// holds however often it changes later. Entries lists transactions by these two limits, sorted by id, because changes do
// not move an id. Adjustments have no filter by time. They are read from the newest on, because ids sort by creation
// time (https://developer.paddle.com/api-reference/about/filter-search-sort.md). Entries also passes changes in the
// span: an approved refund, or a transaction that was paid later than it was captured.
//
// Neither list names a payout. Only a report file that is made on request does so
// (https://developer.paddle.com/build/reports/payout-reconciliation.md). Entries of chargebacks have no fee and no net
// amount: Paddle does not document the sign of the earnings for a reversed chargeback, and whether it then returns the
// fee of the chargeback, which the earnings exclude.
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	unread, whole := &kit.Unread{}, in.Seconds()
	query := url.Values{
		"updated_at[GTE]": {whole.From.Format(time.RFC3339)}, "created_at[LT]": {whole.To.Format(time.RFC3339)},
		"status": {paid + "," + completed}, "order_by": {"id[ASC]"}, "per_page": {pageOf30},
	}
	err := c.each(ctx, "/transactions", query, func(item json.RawMessage) (more bool, err error) {
		return true, kit.Pass(unread, item, func(t listedTransaction) ([]gateway.Entry, error) { return t.entries(in) }, take)
	})
	if err != nil {
		return err
	}
	query = url.Values{"status": {approved + "," + reversed}, "order_by": {"id[DESC]"}, "per_page": {pageSize}}
	return unread.After(c.each(ctx, "/adjustments", query, func(item json.RawMessage) (more bool, err error) {
		more = true
		err = kit.Pass(unread, item, func(a listedAdjustment) ([]gateway.Entry, error) {
			more = a.CreatedAt.IsZero() || !a.CreatedAt.Before(in.From.Add(-approvedLater))
			return a.entries(in)
		}, take)
		return more, err
	}))
}

// each passes the items of a list to one, page by page, until one returns false. The next page starts after the last
// item with an id. If the last items have no id, they are read twice.
func (c *Client) each(ctx context.Context, path string, query url.Values, one func(json.RawMessage) (more bool, err error)) error {
	for {
		page, more, err := c.page(ctx, path, query)
		if err != nil {
			return fmt.Errorf("list %s: %w", path, err)
		}
		last := ""
		for _, item := range page {
			var named struct {
				ID string `json:"id"`
			}
			_ = json.Unmarshal(item, &named) // one counts the unreadable items
			last = cmp.Or(named.ID, last)
			if on, err := one(item); err != nil || !on {
				return err
			}
		}
		switch {
		case !more:
			return nil
		case last == "" || last == query.Get("after"):
			return fmt.Errorf("list %s: %w", path, errNameless)
		}
		query.Set("after", last)
	}
}

// listedTransaction is a transaction with its dates.
type listedTransaction struct {
	transaction

	UpdatedAt time.Time `json:"updated_at"`
	BilledAt  time.Time `json:"billed_at"`
	Payments  []struct {
		CapturedAt time.Time `json:"captured_at"`
	} `json:"payments"`
}

// capturedAt returns the capture time of the transaction's last payment. If no payment has such a time, it returns the
// time of the bill, or of the last change.
func (t listedTransaction) capturedAt() time.Time {
	var last time.Time
	for _, p := range t.Payments {
		if p.CapturedAt.After(last) {
			last = p.CapturedAt
		}
	}
	return cmp.Or(last, t.BilledAt, t.UpdatedAt).UTC()
}

// entries returns the transaction's capture. The amount is a total, as in the webhooks and in the lookup. A capture of
// zero, as in the trial of a subscription, is not an entry.
func (t listedTransaction) entries(in gateway.Span) ([]gateway.Entry, error) {
	at := t.capturedAt()
	if at.IsZero() {
		return nil, fmt.Errorf("transaction %s: %w", t.ID, errUndated)
	}
	if !in.Has(at) && !in.Has(t.UpdatedAt) {
		return nil, nil
	}
	o, err := t.outcome()
	switch {
	case err != nil:
		return nil, fmt.Errorf("transaction %s: %w", t.ID, err)
	case o.Event != fsm.EventSucceeded || o.Money.Minor == 0:
		return nil, nil
	}
	e := gateway.Entry{
		ID: t.ID, Payment: t.ID, References: o.References, Order: payment.OrderID(t.custom("order_id")),
		Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: *o.Money, At: at},
	}
	e.Fee, e.Net = t.Details.PayoutTotals.kept()
	return []gateway.Entry{e}, nil
}

// payoutTotals are in the balance's currency, and null until the transaction is completed
// (https://developer.paddle.com/api-reference/transactions/list-transactions.md, "payout_totals").
type payoutTotals struct {
	Fee      string `json:"fee"`
	Tax      string `json:"tax"`
	Earnings string `json:"earnings"`
	Currency string `json:"currency_code"`
}

// kept returns what Paddle keeps, and the net amount. Paddle keeps its fee and, as the seller, the tax, so both amounts
// add up to the price. The net amount may be negative. Both are nil if either is missing.
func (p *payoutTotals) kept() (fee, net *payment.Money) {
	if p == nil || p.Currency == "" {
		return nil, nil
	}
	taken, err := strconv.ParseInt(p.Fee, 10, 64)
	tax, untaxed := strconv.ParseInt(cmp.Or(p.Tax, "0"), 10, 64)
	left, failed := strconv.ParseInt(p.Earnings, 10, 64)
	if errors.Join(err, untaxed, failed) != nil {
		return nil, nil
	}
	in := payment.Currency(p.Currency)
	return &payment.Money{Minor: taken + tax, Currency: in}, &payment.Money{Minor: left, Currency: in}
}

// returned returns what Paddle gives back with a refund, and what the refund takes from the balance, both as negative
// amounts. The amounts of a refund are positive in Paddle's examples.
func (p *payoutTotals) returned() (fee, net *payment.Money) {
	if fee, net = p.kept(); net != nil {
		fee.Minor, net.Minor = -fee.Minor, -net.Minor
	}
	return fee, net
}

// listedAdjustment is an adjustment with its dates. An adjustment changes only when Paddle has reviewed a refund
// (https://developer.paddle.com/webhooks/adjustments/adjustment-updated), or when a chargeback is reversed.
type listedAdjustment struct {
	adjustment

	CreatedAt    time.Time     `json:"created_at"`
	UpdatedAt    time.Time     `json:"updated_at"`
	PayoutTotals *payoutTotals `json:"payout_totals"`
}

// entries returns an approved refund, dated by its approval, or a chargeback or its reversal, dated by its creation.
func (a listedAdjustment) entries(in gateway.Span) ([]gateway.Entry, error) {
	if a.CreatedAt.IsZero() || a.UpdatedAt.IsZero() {
		return nil, fmt.Errorf("adjustment %s: %w", a.ID, errUndated)
	}
	if !in.Has(a.CreatedAt) && !in.Has(a.UpdatedAt) {
		return nil, nil
	}
	var o gateway.Outcome
	if err := a.add(&o); err != nil {
		return nil, fmt.Errorf("adjustment %s: %w", a.ID, err)
	}
	moved := o.Movements
	for i := range moved {
		moved[i].At = a.CreatedAt.UTC()
	}
	for _, r := range o.Refunds {
		if r.Event == fsm.EventSucceeded {
			moved = append(moved, payment.MovementReport{Kind: payment.MovementRefund, ID: r.ProviderRefundID, Money: *r.Money, At: a.UpdatedAt.UTC()})
		}
	}
	if len(moved) > 0 && (a.ID == "" || a.TransactionID == "") {
		return nil, fmt.Errorf("adjustment %s: %w", a.ID, errNoObject)
	}
	all := make([]gateway.Entry, 0, len(moved))
	for _, m := range moved {
		e := gateway.Entry{ID: a.ID, Payment: a.TransactionID, Movement: m}
		if m.Kind == payment.MovementRefund {
			e.Fee, e.Net = a.PayoutTotals.returned()
		}
		all = append(all, e)
	}
	return all, nil
}
