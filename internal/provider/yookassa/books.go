package yookassa

import (
	"context"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Entries implements gateway.Books by the lists of payments, by the time of their capture, and of
// refunds (https://yookassa.ru/developers/api#get_payments_list, #get_refunds_list); both end after
// three years. The net amount of a capture is its income_amount, the fee what is left of its amount.
//
// A refund has no date but that of its creation: one that is under way is left out, and is found by
// reading the same span again. Payouts have no id in the API, disputes are not in it.
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	if err := c.capturedIn(ctx, in, take); err != nil {
		return err
	}
	return c.refundedIn(ctx, in, take)
}

// milliseconds is how precise times are at YooKassa.
const milliseconds = "2006-01-02T15:04:05.000Z"

// bounds are the parameters of a list for what it has within a span, or a little more.
func bounds(field string, in gateway.Span) url.Values {
	return url.Values{
		"status":       {"succeeded"},
		field + ".gte": {in.From.UTC().Format(milliseconds)},
		field + ".lt":  {in.To.Add(time.Millisecond).UTC().Format(milliseconds)},
	}
}

func (c *Client) capturedIn(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	type listed struct {
		object

		Income     *amount   `json:"income_amount"`
		CapturedAt time.Time `json:"captured_at"`
	}
	return each(ctx, c, "/payments", bounds("captured_at", in), func(p listed) (bool, error) {
		o, err := outcome(p.object)
		if err != nil || o.News != fsm.NewsSucceeded || !in.Has(p.CapturedAt) {
			return true, err
		}
		e := gateway.Entry{
			ID: p.ID, Payment: p.ID, References: o.References, Order: payment.OrderID(p.Metadata["order_id"]),
			Movement: payment.Told{Kind: payment.MovementCapture, Money: *o.Money, At: p.CapturedAt.UTC()},
		}
		if e.Fee, e.Net, err = income(*o.Money, p.Income); err != nil {
			return false, err
		}
		return true, take(e)
	})
}

// income splits a captured amount into what YooKassa keeps and what it hands over; both are nil where
// that is not stated.
func income(captured payment.Money, handed *amount) (fee, net *payment.Money, err error) {
	if handed == nil {
		return nil, nil, nil
	}
	if net, err = handed.money(); err != nil || net.Currency != captured.Currency {
		return nil, net, err
	}
	return &payment.Money{Minor: captured.Minor - net.Minor, Currency: net.Currency}, net, nil
}

func (c *Client) refundedIn(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	type listed struct {
		refund

		CreatedAt time.Time `json:"created_at"`
	}
	return each(ctx, c, "/refunds", bounds("created_at", in), func(r listed) (bool, error) {
		o, err := refundOutcome(r.refund)
		if err != nil || o.News != fsm.NewsSucceeded || r.PaymentID == "" || !in.Has(r.CreatedAt) {
			return true, err
		}
		e := gateway.Entry{
			ID: r.ID, Payment: r.PaymentID,
			Movement: payment.Told{Kind: payment.MovementRefund, ID: r.ID, Money: *o.Money, At: r.CreatedAt.UTC()},
		}
		if ours := r.Metadata["payment_attempt_id"]; ours != "" {
			e.References = []string{ours}
		}
		return true, take(e)
	})
}
