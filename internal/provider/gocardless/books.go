package gocardless

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// payout is GoCardless's view of one
// (https://developer.gocardless.com/api-reference/#core-endpoints-payouts).
type payout struct {
	ID        string    `json:"id"`
	Currency  string    `json:"currency"`
	CreatedAt time.Time `json:"created_at"`
}

// item is a part of a payout
// (https://developer.gocardless.com/api-reference/#core-endpoints-payout-items). Its amount is in minor
// units with one decimal place, below 0 where it was taken.
type item struct {
	Type   string `json:"type"`
	Amount string `json:"amount"`
	Links  struct {
		Payment string `json:"payment"`
		Refund  string `json:"refund"`
	} `json:"links"`
}

// moved are the types of items that move the money of a payment.
var moved = map[string]payment.MovementKind{ //nolint:gochecknoglobals // a table
	"payment_paid_out":      payment.MovementCapture,
	"payment_failed":        payment.MovementCaptureReversal,
	"payment_charged_back":  payment.MovementChargeback,
	"payment_refunded":      payment.MovementRefund,
	"refund_funds_returned": payment.MovementRefundReversal,
}

// Entries implements gateway.Books by the payouts that were created in a span and their items: money is
// in the books once it was paid out, which is when its entry is dated. Items are kept for six months, a
// request for older ones is an error.
//
// As in webhooks, a refund is named and all else is a total of its payment. The fee of an entry is that
// of its payment in the same payout, taxes included. One that was given back is below 0; one in a
// fraction of a minor unit is left out, with the net amount.
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	return each(ctx, c, "payouts", created(in), func(p payout) error {
		switch {
		case p.ID == "" || p.CreatedAt.IsZero():
			return errNameless
		case !in.Has(p.CreatedAt):
			return nil
		}
		entries, err := c.entries(ctx, p)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := take(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// entries are those of one payout. All of its items are read first: a fee may stand before or after the
// payment that it is of.
func (c *Client) entries(ctx context.Context, p payout) (entries []gateway.Entry, err error) {
	fees := map[string]int64{} // by payment, in tenths of a minor unit
	err = each(ctx, c, "payout_items", url.Values{"payout": {p.ID}}, func(i item) error {
		tenths, err := i.tenths()
		switch {
		case err != nil:
			return err
		case i.Type == "gocardless_fee", i.Type == "surcharge_fee":
			fees[i.Links.Payment] -= tenths
			return nil
		case moved[i.Type] == "" || i.Links.Payment == "":
			return nil
		}
		e, err := i.entry(p, tenths)
		entries = append(entries, e)
		return err
	})
	for n := range entries {
		e := &entries[n]
		tenths, kept := fees[e.Payment]
		delete(fees, e.Payment) // of two entries of a payment in one payout the first has it
		switch {
		case !kept:
			continue
		case tenths%10 != 0:
			e.Net = nil
			continue
		}
		e.Fee = &payment.Money{Minor: tenths / 10, Currency: e.Movement.Money.Currency}
		e.Net.Minor -= e.Fee.Minor
	}
	return entries, err
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
		Movement: payment.Told{Kind: moved[i.Type], Money: *money, At: p.CreatedAt.UTC()},
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

// tenths reads an amount, which has at most one decimal place.
func (i item) tenths() (int64, error) {
	whole, fraction, _ := strings.Cut(i.Amount, ".")
	if len(fraction) > 1 {
		return 0, errFraction
	}
	n, err := strconv.ParseInt(whole+(fraction + "0")[:1], 10, 64)
	return n, err //nolint:wrapcheck // the text that is no number is in it
}
