package gocardless

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// payout is GoCardless's view of a payout
// (https://developer.gocardless.com/api-reference/#core-endpoints-payouts).
type payout struct {
	ID        string    `json:"id"`
	Currency  string    `json:"currency"`
	CreatedAt time.Time `json:"created_at"`
	// Amount is the amount after all fees, in minor units, negative if it was taken. Arrival is a date, null before it is known.
	Amount  *int64 `json:"amount"`
	Arrival string `json:"arrival_date"`
	Status  string `json:"status"`
}

// stands are the statuses of a payout. A bounced payout came back from the bank, and "can be retried": it may
// be paid later.
var stands = map[string]payment.PayoutStatus{ //nolint:gochecknoglobals // a table
	"pending": payment.PayoutPending, "paid": payment.PayoutPaid, "bounced": payment.PayoutFailed,
}

// Payouts implements gateway.Payouts (https://developer.gocardless.com/api-reference/#payouts-list-payouts).
func (c *Client) Payouts(ctx context.Context, in gateway.Span, take func(payment.PayoutReport) error) error {
	unread := &kit.Unread{}
	return unread.After(each(ctx, c, "payouts", created(in), func(raw json.RawMessage) error {
		return kit.Pass(unread, raw, func(p payout) ([]payment.PayoutReport, error) {
			if in, err := p.within(in); err != nil || len(in) == 0 {
				return nil, err
			}
			r, err := p.report()
			return []payment.PayoutReport{r}, err
		}, take)
	}))
}

func (p payout) report() (payment.PayoutReport, error) {
	r := payment.PayoutReport{ProviderID: p.ID, Status: stands[p.Status], Again: true}
	if r.Status == "" || p.Amount == nil || p.Currency == "" {
		return r, fmt.Errorf("payout %s: %w", p.ID, errNameless)
	}
	r.Money = &payment.Money{Minor: *p.Amount, Currency: payment.Currency(p.Currency)}
	if p.Arrival != "" {
		on, err := time.Parse(time.DateOnly, p.Arrival)
		if err != nil {
			return r, fmt.Errorf("payout %s: read its arrival: %w", p.ID, err)
		}
		r.ArrivesOn = on
	}
	return r, nil
}

// item is an item of a payout (https://developer.gocardless.com/api-reference/#core-endpoints-payout-items). Its amount
// is in minor units with one decimal place, and negative if it was taken from the payout.
type item struct {
	Type   string `json:"type"`
	Amount string `json:"amount"`
	Links  struct {
		Payment string `json:"payment"`
		Refund  string `json:"refund"`
	} `json:"links"`
}

// moved are the types of items that move a payment's money.
var moved = map[string]payment.MovementKind{ //nolint:gochecknoglobals // a table
	"payment_paid_out":      payment.MovementCapture,
	"payment_failed":        payment.MovementCaptureReversal,
	"payment_charged_back":  payment.MovementChargeback,
	"payment_refunded":      payment.MovementRefund,
	"refund_funds_returned": payment.MovementRefundReversal,
}

// Entries implements gateway.Books. It reads the payouts that were created in the span, and their items. Money is in the
// books after its payout, and its entry has the payout's date. GoCardless stores items for six months; a request for
// older items is an error.
//
// As in webhooks, a refund has its own id, and any other movement is a total of its payment. The fee of an entry is the
// fee of its payment in the same payout, including taxes. A returned fee is negative. A fee with a fraction of a minor
// unit is omitted, together with the net amount. If an item of a payout can't be read, all fees and net amounts of the
// payout are omitted, because that item may be a fee.
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	unread := &kit.Unread{}
	return unread.After(each(ctx, c, "payouts", created(in), func(raw json.RawMessage) error {
		return kit.Pass(unread, raw, func(p payout) ([]payout, error) { return p.within(in) }, func(p payout) error {
			return c.paidOut(ctx, p, unread, take)
		})
	}))
}

// within returns the payout itself if it is in the span.
func (p payout) within(in gateway.Span) ([]payout, error) {
	switch {
	case p.ID == "" || p.CreatedAt.IsZero():
		return nil, fmt.Errorf("payout %s: %w", p.ID, errNameless)
	case !in.Has(p.CreatedAt):
		return nil, nil
	}
	return []payout{p}, nil
}

// paidOut passes the entries of one payout. It first reads all items, because a fee may come before or after its
// payment.
func (c *Client) paidOut(ctx context.Context, p payout, unread *kit.Unread, take func(gateway.Entry) error) error {
	var entries []gateway.Entry
	fees, before := fees{}, unread.Count()
	err := each(ctx, c, "payout_items", url.Values{"payout": {p.ID}}, func(raw json.RawMessage) error {
		return kit.Pass(unread, raw, func(i item) ([]gateway.Entry, error) { return i.entries(p, fees) }, func(e gateway.Entry) error {
			entries = append(entries, e)
			return nil
		})
	})
	if err != nil {
		return err
	}
	complete := unread.Count() == before
	for n := range entries {
		if complete {
			fees.of(&entries[n])
		} else {
			entries[n].Net = nil
		}
		if err := take(entries[n]); err != nil {
			return err
		}
	}
	return nil
}

// fees are a payout's fees by payment, in tenths of a minor unit.
type fees map[string]int64

// of removes the fee of the entry's payment and adds it to the entry. If a payment has two entries in one payout, the
// first entry gets the fee.
func (f fees) of(e *gateway.Entry) {
	tenths, kept := f[e.Payment]
	delete(f, e.Payment)
	switch {
	case !kept:
		return
	case tenths%10 != 0:
		e.Net = nil
		return
	}
	e.Fee = &payment.Money{Minor: tenths / 10, Currency: e.Movement.Money.Currency}
	e.Net.Minor -= e.Fee.Minor
}

// entries returns the movement of the item. If the item is a fee, it is added to fees.
func (i item) entries(p payout, fees fees) ([]gateway.Entry, error) {
	tenths, err := i.tenths()
	if i.Type == "" {
		err = errNameless
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s of %s in %s: %w", i.Type, i.Links.Payment, p.ID, err)
	case i.Type == "gocardless_fee", i.Type == "surcharge_fee":
		fees[i.Links.Payment] -= tenths
		return nil, nil
	case moved[i.Type] == "" || i.Links.Payment == "":
		return nil, nil
	}
	e, err := i.entry(p, tenths)
	if err != nil {
		return nil, fmt.Errorf("%s of %s in %s: %w", i.Type, i.Links.Payment, p.ID, err)
	}
	return []gateway.Entry{e}, nil
}

var errFraction = errors.New("a payment of a fraction of a minor unit")

func (i item) entry(p payout, tenths int64) (gateway.Entry, error) {
	if tenths%10 != 0 {
		return gateway.Entry{}, errFraction
	}
	money, err := digits.Money(max(tenths, -tenths)/10, p.Currency)
	if err != nil {
		return gateway.Entry{}, err
	}
	e := gateway.Entry{
		ID: p.ID + "/" + i.Type + "/" + i.Links.Payment, Payment: i.Links.Payment, Payout: p.ID,
		Movement: payment.MovementReport{Kind: moved[i.Type], Money: *money, At: p.CreatedAt.UTC()},
		Net:      &payment.Money{Minor: tenths / 10, Currency: money.Currency},
	}
	if e.Movement.Kind == payment.MovementRefund || e.Movement.Kind == payment.MovementRefundReversal {
		if i.Links.Refund == "" {
			return gateway.Entry{}, errNameless
		}
		e.ID, e.Movement.ID = p.ID+"/"+i.Type+"/"+i.Links.Refund, i.Links.Refund
	}
	return e, nil
}

// tenths parses an amount with at most one decimal place.
func (i item) tenths() (int64, error) {
	whole, fraction, _ := strings.Cut(i.Amount, ".")
	if len(fraction) > 1 {
		return 0, errFraction
	}
	n, err := strconv.ParseInt(whole+(fraction + "0")[:1], 10, 64)
	return n, err //nolint:wrapcheck // the error quotes the invalid number
}
