package yookassa

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Entries implements gateway.Books. It lists payments by the time of their capture, and refunds
// (https://yookassa.ru/developers/api#get_payments_list, #get_refunds_list). Both lists go back three years. The net
// amount of a capture is its income_amount, and the fee is the rest of its amount.
//
// A refund has only the date of its creation. Entries omits a pending refund; a later read of the same span finds it.
// The API has no ids of payouts and no disputes.
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	unread := &kit.Unread{}
	err := each(ctx, c, "/payments", bounds("captured_at", in), passing(unread, func(p listedPayment) ([]gateway.Entry, error) { return p.entries(in) }, take))
	if err != nil {
		return err
	}
	return unread.After(each(ctx, c, "/refunds", bounds("created_at", in), passing(unread, func(r listedRefund) ([]gateway.Entry, error) { return r.entries(in) }, take)))
}

// passing returns a function that passes the entries of one list item.
func passing[T any](unread *kit.Unread, read func(T) ([]gateway.Entry, error), take func(gateway.Entry) error) func(json.RawMessage) (bool, error) {
	return func(item json.RawMessage) (bool, error) { return true, kit.Pass(unread, item, read, take) }
}

var errDateless = errors.New("it has no date")

// milliseconds is YooKassa's time format.
const milliseconds = "2006-01-02T15:04:05.000Z"

// bounds returns the list parameters for the objects in a span. The list may also contain objects shortly after it.
func bounds(field string, in gateway.Span) url.Values {
	return url.Values{
		"status":       {"succeeded"},
		field + ".gte": {in.From.UTC().Format(milliseconds)},
		field + ".lt":  {in.To.Add(time.Millisecond).UTC().Format(milliseconds)},
	}
}

type listedPayment struct {
	object

	Income     *amount   `json:"income_amount"`
	CapturedAt time.Time `json:"captured_at"`
}

func (p listedPayment) entries(in gateway.Span) ([]gateway.Entry, error) {
	o, err := outcome(p.object)
	if err == nil && o.Event == fsm.EventSucceeded && p.CapturedAt.IsZero() {
		err = errDateless
	}
	if err != nil {
		return nil, fmt.Errorf("payment %s: %w", p.ID, err)
	}
	if o.Event != fsm.EventSucceeded || !in.Has(p.CapturedAt) {
		return nil, nil
	}
	e := gateway.Entry{
		ID: p.ID, Payment: p.ID, References: o.References, Order: payment.OrderID(p.Metadata["order_id"]), Payee: o.Payee, Live: o.Live,
		Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: *o.Money, At: p.CapturedAt.UTC()},
	}
	if e.Fee, e.Net, err = income(*o.Money, p.Income); err != nil {
		return nil, fmt.Errorf("income of payment %s: %w", p.ID, err)
	}
	return []gateway.Entry{e}, nil
}

// income splits a captured amount into YooKassa's fee and the net amount. Both are nil if the net amount is not stated.
func income(captured payment.Money, handed *amount) (fee, net *payment.Money, err error) {
	if handed == nil {
		return nil, nil, nil
	}
	if net, err = handed.money(); err != nil || net.Currency != captured.Currency {
		return nil, net, err
	}
	return &payment.Money{Minor: captured.Minor - net.Minor, Currency: net.Currency}, net, nil
}

type listedRefund struct {
	refund

	CreatedAt time.Time `json:"created_at"`
}

func (r listedRefund) entries(in gateway.Span) ([]gateway.Entry, error) {
	o, err := refundOutcome(r.refund)
	if err == nil && r.CreatedAt.IsZero() {
		err = errDateless
	}
	if err != nil {
		return nil, fmt.Errorf("refund %s: %w", r.ID, err)
	}
	if o.Event != fsm.EventSucceeded || r.PaymentID == "" || !in.Has(r.CreatedAt) {
		return nil, nil
	}
	e := gateway.Entry{
		ID: r.ID, Payment: r.PaymentID,
		Movement: payment.MovementReport{Kind: payment.MovementRefund, ID: r.ID, Money: *o.Money, At: r.CreatedAt.UTC()},
	}
	if ours := r.Metadata["payment_attempt_id"]; ours != "" {
		e.References = []string{ours}
	}
	return []gateway.Entry{e}, nil
}
