package razorpay

import (
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

// Entries implements gateway.Books. It reads the payments and the refunds that were created in the span
// (https://razorpay.com/docs/api/payments/fetch-all-payments/, …/api/refunds/fetch-all/), and then the settlements of
// the span. A capture or a refund may be completed after the span in which it was created; the span of its settlement
// then contains it. Settlements also contain the amounts of lost disputes.
//
// Razorpay has no list of events.
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	unread, whole := &kit.Unread{}, in.Seconds()
	created := url.Values{"from": {strconv.FormatInt(whole.From.Unix(), 10)}, "to": {strconv.FormatInt(whole.To.Unix(), 10)}}
	err := c.list(ctx, "/payments", created, func(item json.RawMessage) error {
		return kit.Pass(unread, item, listedPayment.entries, take)
	})
	if err != nil {
		return err
	}
	err = c.list(ctx, "/refunds", created, func(item json.RawMessage) error {
		return kit.Pass(unread, item, listedRefund.entries, func(e gateway.Entry) error { return c.ofCaptured(ctx, e, take) })
	})
	if err != nil {
		return err
	}
	return unread.After(c.settled(ctx, in, unread, take))
}

// list passes the items of a list to one, page by page, and ends if one returns an error. A list ends with an empty
// page, because Razorpay does not document that each page before the end is full.
func (c *Client) list(ctx context.Context, path string, query url.Values, one func(json.RawMessage) error) error {
	query.Set("count", strconv.Itoa(pageSize))
	for skip := 0; ; {
		query.Set("skip", strconv.Itoa(skip))
		var got struct {
			Items []json.RawMessage `json:"items"`
		}
		err := c.api.Get(ctx, path+"?"+query.Encode(), nil, &got)
		if err == nil && got.Items == nil {
			err = errNameless
		}
		if err != nil {
			return fmt.Errorf("list %s: %w", path, err)
		}
		for _, item := range got.Items {
			if err := one(item); err != nil {
				return err
			}
		}
		if skip += len(got.Items); len(got.Items) == 0 {
			return nil
		}
	}
}

// notes are an object's notes that are strings. Razorpay writes an object without notes as an empty list.
type notes map[string]string

// UnmarshalJSON implements json.Unmarshaler.
func (n *notes) UnmarshalJSON(raw []byte) error {
	var all map[string]any
	_ = json.Unmarshal(raw, &all) // a value that is not an object has no notes
	*n = notes{}
	for name, value := range all {
		if text, ok := value.(string); ok {
			(*n)[name] = text
		}
	}
	return nil
}

// listedPayment is a payment in a list, with the members that the books need
// (https://razorpay.com/docs/api/payments/entity/: the fee includes the tax on it).
type listedPayment struct {
	paid

	Notes notes  `json:"notes"`
	Fee   *int64 `json:"fee"`
	// BaseAmount and BaseCurrency are the amount in the balance's currency, if the payment has another currency.
	BaseAmount   *int64 `json:"base_amount"`
	BaseCurrency string `json:"base_currency"`
}

// entries returns the payment's capture, if there is one. The amount is the payment's total, as in a lookup.
func (p listedPayment) entries() ([]gateway.Entry, error) {
	o, err := p.outcome()
	switch {
	case err != nil:
		return nil, fmt.Errorf("payment %s: %w", p.ID, err)
	case o.Event != fsm.EventSucceeded:
		return nil, nil
	}
	e := gateway.Entry{
		ID: p.ID, Payment: p.ID, Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: *o.Money, At: time.Unix(p.CreatedAt, 0).UTC()},
	}
	name(&e, p.Notes, p.OrderID)
	return []gateway.Entry{p.withFee(e)}, nil
}

// withFee adds the fee, which is in the balance's currency. For a payment in another currency, the fee is added only if
// the amount in the balance's currency is stated.
func (p listedPayment) withFee(e gateway.Entry) gateway.Entry {
	units, currency := p.BaseAmount, p.BaseCurrency
	if currency == "" && p.Currency == "INR" {
		units, currency = p.Amount, p.Currency
	}
	gross, err := money(units, currency)
	fee, failed := money(p.Fee, currency)
	if err != nil || failed != nil {
		return e
	}
	e.Fee, e.Net = fee, &payment.Money{Minor: gross.Minor - fee.Minor, Currency: gross.Currency}
	return e
}

func name(e *gateway.Entry, n notes, order string) {
	for _, id := range []string{n["payment_attempt_id"], order} {
		if id != "" {
			e.References = append(e.References, id)
		}
	}
	e.Order = payment.OrderID(n["order_id"])
}

type listedRefund struct {
	refund

	PaymentID string `json:"payment_id"`
	CreatedAt int64  `json:"created_at"`
	Notes     notes  `json:"notes"`
}

// entries returns the refund once it is processed.
func (r listedRefund) entries() ([]gateway.Entry, error) {
	o, err := r.outcome()
	if err == nil && r.PaymentID == "" {
		err = errNameless
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("refund %s: %w", r.ID, err)
	case o.Event != fsm.EventSucceeded:
		return nil, nil
	}
	e := gateway.Entry{
		ID: r.ID, Payment: r.PaymentID, Movement: payment.MovementReport{Kind: payment.MovementRefund, ID: r.ID, Money: *o.Money, At: time.Unix(r.CreatedAt, 0).UTC()},
	}
	name(&e, r.Notes, "")
	return []gateway.Entry{e}, nil
}

// ofCaptured passes a refund with the names of its payment. Razorpay refunds uncaptured payments itself
// (https://razorpay.com/docs/payments/refunds/auto-refunds/). Such a refund moves no captured money, so its webhooks and
// its entry are ignored.
func (c *Client) ofCaptured(ctx context.Context, e gateway.Entry, take func(gateway.Entry) error) error {
	var of struct {
		ID       string `json:"id"`
		OrderID  string `json:"order_id"`
		Captured *bool  `json:"captured"`
		Notes    notes  `json:"notes"`
	}
	err := c.api.Get(ctx, paymentPath(e.Payment), nil, &of)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return take(e)
	case err == nil && of.ID == "":
		err = errNameless
	}
	if err != nil {
		return fmt.Errorf("payment of the refund %s: %w", e.ID, err)
	}
	if of.Captured != nil && !*of.Captured {
		return nil
	}
	e.References = nil
	name(&e, of.Notes, of.OrderID)
	return take(e)
}
