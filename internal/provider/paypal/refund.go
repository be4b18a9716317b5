package paypal

import (
	"context"
	"net/url"
	"path"
	"slices"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

type refundRequest struct {
	Amount amount `json:"amount"`
	// CustomID is by what the refund is known in its order and its webhooks.
	CustomID string `json:"custom_id"`
}

// Refund implements payment.Provider
// (https://developer.paypal.com/docs/api/payments/v2/#captures_refund). Our reason
// stays with us: what PayPal takes as one the customer reads.
func (c *Client) Refund(ctx context.Context, r payment.RefundCall) (payment.RefundOutcome, error) {
	sum, err := amountOf(r.Money)
	if err != nil {
		return payment.RefundOutcome{}, err
	}
	found, err := c.find(ctx, r.ProviderPaymentID, &r.Licence)
	if err != nil {
		return payment.RefundOutcome{}, call.NotSent(err)
	}
	taken := found.taken()
	if len(taken) == 0 {
		return payment.RefusedRefund(found.Status), nil
	}
	var made refund
	to := capturesPath + "/" + url.PathEscape(taken[len(taken)-1].ID) + "/refund"
	refused, err := c.post(ctx, to, r.IdempotencyKey, r.Licence, refundRequest{sum, r.Refund.String()}, &made)
	switch {
	case err != nil:
		return payment.RefundOutcome{}, err
	case refused == nil:
		return refundOutcome(made)
	}
	return payment.RefusedRefund(refused.code()), nil
}

// belongs returns ErrNoSuchPayment for a refund of another payment than the one that is
// asked about: a webhook, whose body is covered by a checksum only, may have named both.
func (c *Client) belongs(ctx context.Context, r refund, paymentID string) error {
	of := r.capture()
	if of == "" || paymentID == "" || of == paymentID {
		return nil
	}
	in, err := c.find(ctx, paymentID, nil)
	if err == nil && !slices.ContainsFunc(in.captures(), func(m movement) bool { return m.ID == of }) {
		err = payment.ErrNoSuchPayment
	}
	return err
}

// capture is what the refund is of.
func (r refund) capture() string {
	for _, link := range r.Links {
		if parent, id := path.Split(link.Href); link.Rel == "up" && path.Base(parent) == "captures" {
			return id
		}
	}
	return ""
}

// LookupRefund implements payment.Provider. A refund whose id is not known is
// looked for in its order
// (https://developer.paypal.com/docs/api/orders/v2/#orders_get, "payments.refunds").
func (c *Client) LookupRefund(ctx context.Context, r payment.RefundRef) (payment.RefundOutcome, error) {
	if r.ProviderRefundID != "" {
		var found refund
		if err := c.get(ctx, refundsPath, r.ProviderRefundID, nil, &found); err != nil {
			return payment.RefundOutcome{}, err
		}
		if err := c.belongs(ctx, found, r.ProviderPaymentID); err != nil {
			return payment.RefundOutcome{}, err
		}
		return refundOutcome(found)
	}
	in, err := c.find(ctx, r.ProviderPaymentID, nil)
	switch {
	case err != nil:
		return payment.RefundOutcome{}, err
	case in.Status == "":
		return payment.RefundOutcome{}, payment.ErrNotTold
	}
	for _, u := range in.PurchaseUnits {
		for _, made := range u.Payments.Refunds {
			if made.CustomID == r.Refund.String() {
				return refundOutcome(made)
			}
		}
	}
	return payment.RefundOutcome{}, payment.ErrNoSuchPayment
}
