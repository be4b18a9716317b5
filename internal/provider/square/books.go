package square

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Entries implements gateway.Books. It reads the payments and refunds that were created in the span, the payments and
// refunds that were changed in it (a delayed capture, a later fee), and the disputes that were created or changed in it
// (https://developer.squareup.com/reference/square/payments-api/list-payments, …/refunds-api/list-payment-refunds,
// …/disputes-api/list-disputes). The list of disputes has no filter by time, so all disputes are read. None of these
// objects names a payout, so it then reads the entries of the payouts that were created in the span. They may be of earlier days.
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	unread, whole := &kit.Unread{}, in.Seconds()
	all := func(dates) bool { return true }
	before := func(d dates) bool { return !whole.Has(d.CreatedAt) }
	within := func(d dates) bool { return whole.Has(d.CreatedAt) || whole.Has(d.UpdatedAt) }
	disputes, contested := map[string]dispute{}, passing[dispute](unread, within, take)
	for _, l := range []struct {
		path  string
		query url.Values
		one   func(json.RawMessage) error
	}{
		{"/v2/payments", created(whole), passing[bookedPayment](unread, all, take)},
		{"/v2/payments", changed(whole), passing[bookedPayment](unread, before, take)},
		{"/v2/refunds", created(whole), passing[bookedRefund](unread, all, take)},
		{"/v2/refunds", changed(whole), passing[bookedRefund](unread, before, take)},
		{"/v2/disputes", url.Values{}, func(item json.RawMessage) error {
			var d dispute
			if json.Unmarshal(item, &d) == nil {
				disputes[d.ID], disputes[d.OldID] = d, d
			}
			return contested(item)
		}},
	} {
		if c.Location != "" {
			l.query.Set("location_id", c.Location)
		}
		if err := c.list(ctx, l.path, l.query, l.one); err != nil {
			return err
		}
	}
	return unread.After(c.paidOut(ctx, whole, disputes, unread, take))
}

func created(in gateway.Span) url.Values {
	return url.Values{"begin_time": {in.From.Format(time.RFC3339)}, "end_time": {in.To.Format(time.RFC3339)}}
}

func changed(in gateway.Span) url.Values {
	return url.Values{
		"updated_at_begin_time": {in.From.Format(time.RFC3339)}, "updated_at_end_time": {in.To.Format(time.RFC3339)}, "sort_field": {"UPDATED_AT"},
	}
}

// booked is an object with entries.
type booked interface {
	dated() dates
	entries() ([]gateway.Entry, error)
}

type dates struct {
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func (d dates) dated() dates { return d }

// passing returns a function that passes an item's entries if keep accepts the item's dates.
func passing[T booked](unread *kit.Unread, keep func(dates) bool, take func(gateway.Entry) error) func(json.RawMessage) error {
	return func(item json.RawMessage) error {
		return kit.Pass(unread, item, func(one T) ([]gateway.Entry, error) {
			if !keep(one.dated()) {
				return nil, nil
			}
			return one.entries()
		}, take)
	}
}
