package sandbox

import (
	"context"
	"net/http"
	"net/url"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Capture implements gateway.Provider.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	body := map[string]int64{"amount": cp.Money.Minor}
	return c.command(ctx, cp.ProviderPaymentID, "capture", cp.IdempotencyKey, cp.Permit, body)
}

// Cancel implements gateway.Provider.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	return c.command(ctx, cl.ProviderPaymentID, "cancel", cl.IdempotencyKey, cl.Permit, struct{}{})
}

// command sends a command. After a refusal the charge is looked up: its state counts.
func (c *Client) command(ctx context.Context, id, verb, key string, l gateway.Permit, body any) (gateway.Outcome, error) {
	var moved charge
	refused, err := c.api.Post(ctx, "/v1/charges/"+url.PathEscape(id)+"/"+verb, keyed(key), l, body, &moved)
	if err != nil {
		return gateway.Outcome{}, err
	}
	if refused == nil {
		return outcome(moved)
	}
	if refused.Status == http.StatusNotFound {
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	now, err := c.Lookup(ctx, id)
	now.Refused = true
	return now, err
}

type refund struct {
	ID        string `json:"id"`
	Reference string `json:"reference"`
	Status    string `json:"status"`
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
}

type refundRequest struct {
	Amount    int64  `json:"amount"`
	Reference string `json:"reference"`
}

// Refund implements gateway.Provider.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	var made refund
	refused, err := c.api.Post(ctx, "/v1/charges/"+url.PathEscape(r.ProviderPaymentID)+"/refunds", keyed(r.IdempotencyKey), r.Permit,
		refundRequest{Amount: r.Money.Minor, Reference: r.Refund.String()}, &made)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case refused == nil:
		return refundOutcome(made)
	}
	return gateway.RefusedRefund(refused.Code), nil
}

// LookupRefund implements gateway.Provider.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if r.ProviderRefundID != "" {
		var found refund
		if err := c.api.Get(ctx, "/v1/refunds/"+url.PathEscape(r.ProviderRefundID), nil, &found); err != nil {
			return gateway.RefundOutcome{}, err
		}
		return refundOutcome(found)
	}
	var list struct {
		Items []refund `json:"items"`
	}
	if err := c.api.Get(ctx, "/v1/refunds?"+url.Values{"reference": {r.Refund.String()}}.Encode(), nil, &list); err != nil {
		return gateway.RefundOutcome{}, err
	}
	switch {
	case list.Items == nil:
		return gateway.RefundOutcome{}, errNameless
	case len(list.Items) == 0:
		return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
	}
	return refundOutcome(list.Items[0])
}

func refundOutcome(r refund) (gateway.RefundOutcome, error) {
	if r.ID == "" {
		return gateway.RefundOutcome{}, errNameless
	}
	o := gateway.RefundOutcome{
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
