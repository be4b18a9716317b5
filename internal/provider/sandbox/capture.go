package sandbox

import (
	"context"
	"net/http"
	"net/url"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Capture implements payment.Provider.
func (c *Client) Capture(ctx context.Context, cp payment.Capture) (payment.Outcome, error) {
	body := map[string]int64{"amount": cp.Money.Minor}
	return c.command(ctx, cp.ProviderPaymentID, "capture", cp.IdempotencyKey, cp.Licence, body)
}

// Cancel implements payment.Provider.
func (c *Client) Cancel(ctx context.Context, cl payment.Cancel) (payment.Outcome, error) {
	return c.command(ctx, cl.ProviderPaymentID, "cancel", cl.IdempotencyKey, cl.Licence, struct{}{})
}

// command moves a charge. When it is refused the charge itself is asked: what
// counts is how the payment stands.
func (c *Client) command(ctx context.Context, id, verb, key string, l payment.Licence, body any) (payment.Outcome, error) {
	var moved charge
	refused, err := c.post(ctx, "/v1/charges/"+url.PathEscape(id)+"/"+verb, key, l, body, &moved)
	if err != nil {
		return payment.Outcome{}, err
	}
	if refused == nil {
		return outcome(moved)
	}
	if refused.Status == http.StatusNotFound {
		return payment.Outcome{}, payment.ErrNoSuchPayment
	}
	now, err := c.Lookup(ctx, id)
	now.Refused = true
	return now, err
}

type refund struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

type refundRequest struct {
	Amount    int64  `json:"amount"`
	Reference string `json:"reference"`
}

// Refund implements payment.Provider.
func (c *Client) Refund(ctx context.Context, r payment.RefundCall) (payment.RefundOutcome, error) {
	var made refund
	refused, err := c.post(ctx, "/v1/charges/"+url.PathEscape(r.ProviderPaymentID)+"/refunds", r.IdempotencyKey, r.Licence,
		refundRequest{Amount: r.Money.Minor, Reference: r.Refund.String()}, &made)
	switch {
	case err != nil:
		return payment.RefundOutcome{}, err
	case refused != nil:
		return payment.RefusedRefund(refused.Code), nil
	}
	return refundOutcome(made)
}

// LookupRefund implements payment.Provider.
func (c *Client) LookupRefund(ctx context.Context, r payment.RefundRef) (payment.RefundOutcome, error) {
	if r.ProviderRefundID != "" {
		var found refund
		if err := c.get(ctx, "/v1/refunds/"+url.PathEscape(r.ProviderRefundID), nil, &found); err != nil {
			return payment.RefundOutcome{}, err
		}
		return refundOutcome(found)
	}
	var list struct {
		Items []refund `json:"items"`
	}
	if err := c.get(ctx, "/v1/refunds", url.Values{"reference": {r.Refund.String()}}, &list); err != nil {
		return payment.RefundOutcome{}, err
	}
	switch {
	case list.Items == nil:
		return payment.RefundOutcome{}, errNameless
	case len(list.Items) == 0:
		return payment.RefundOutcome{}, payment.ErrNoSuchPayment
	}
	return refundOutcome(list.Items[0])
}

func refundOutcome(r refund) (payment.RefundOutcome, error) {
	if r.ID == "" {
		return payment.RefundOutcome{}, errNameless
	}
	o := payment.RefundOutcome{
		News: fsm.NewsProcessing, ProviderRefundID: r.ID,
		Money: &payment.Money{Minor: r.Amount, Currency: payment.Currency(r.Currency)},
	}
	switch r.Status {
	case "succeeded":
		o.News = fsm.NewsSucceeded
	case "failed":
		o.News = fsm.NewsFailed
	}
	return o, nil
}
