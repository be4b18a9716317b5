package paypal

import (
	"context"
	"net/url"
	"path"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/call"
)

type refundRequest struct {
	Amount amount `json:"amount"`
	// CustomID identifies the refund in its order and its webhooks.
	CustomID string `json:"custom_id"`
}

// Refund implements gateway.Provider
// (https://developer.paypal.com/docs/api/payments/v2/#captures_refund). Our reason is
// not sent: PayPal shows it to the customer.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	sum, err := amountOf(r.Money)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	of, status, err := c.refundable(ctx, r)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, call.NotSent(err)
	case of == "":
		return gateway.RefusedRefund(status), nil
	}
	var made refund
	to := capturesPath + "/" + url.PathEscape(of) + "/refund"
	refused, err := c.api.Post(ctx, to, keyed(r.IdempotencyKey), r.Permit, refundRequest{sum, r.Refund.String()}, &made)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case refused == nil:
		return refundOutcome(made)
	}
	return gateway.RefusedRefund(refused.code()), nil
}

// refundable is the last capture: the one that is known, or else that of the order, whose status is returned
// where it has none. PayPal does not keep an order for as long as its captures can be refunded.
func (c *Client) refundable(ctx context.Context, r gateway.RefundCall) (capture, status string, err error) {
	if n := len(r.Transactions); n > 0 {
		return r.Transactions[n-1], "", nil
	}
	found, err := c.find(ctx, r.ProviderPaymentID, &r.Permit)
	if err != nil {
		return "", "", err
	}
	taken := found.taken()
	if len(taken) == 0 {
		return "", found.Status, nil
	}
	return taken[len(taken)-1].ID, "", nil
}

// belongs returns ErrNoSuchPayment for a refund of another payment than paymentID: a
// webhook, which only a checksum covers, may have named both.
func (c *Client) belongs(ctx context.Context, r refund, paymentID string) error {
	of := r.capture()
	if of == "" || paymentID == "" || of == paymentID {
		return nil
	}
	in, err := c.find(ctx, paymentID, nil)
	if err == nil && !slices.ContainsFunc(in.captures(), func(m movement) bool { return m.ID == of }) {
		err = gateway.ErrNoSuchPayment
	}
	return err
}

// capture returns the id of the refunded capture.
func (r refund) capture() string {
	for _, link := range r.Links {
		if parent, id := path.Split(link.Href); link.Rel == "up" && path.Base(parent) == "captures" {
			return id
		}
	}
	return ""
}

// LookupRefund implements gateway.Provider. A refund without an id is searched in its
// order (https://developer.paypal.com/docs/api/orders/v2/#orders_get,
// "payments.refunds").
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if r.ProviderRefundID != "" {
		var found refund
		if err := c.get(ctx, refundsPath, r.ProviderRefundID, nil, &found); err != nil {
			return gateway.RefundOutcome{}, err
		}
		if err := c.belongs(ctx, found, r.ProviderPaymentID); err != nil {
			return gateway.RefundOutcome{}, err
		}
		return refundOutcome(found)
	}
	in, err := c.find(ctx, r.ProviderPaymentID, nil)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case in.Status == "":
		return gateway.RefundOutcome{}, gateway.ErrNotTold
	}
	for _, u := range in.PurchaseUnits {
		for _, made := range u.Payments.Refunds {
			if made.CustomID == r.Refund.String() {
				return refundOutcome(made)
			}
		}
	}
	return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
}
