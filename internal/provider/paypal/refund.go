package paypal

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

type refundRequest struct {
	Amount amount `json:"amount"`
	// CustomID identifies the refund in its order and its webhooks.
	CustomID string `json:"custom_id"`
}

// Refund implements gateway.Provider (https://developer.paypal.com/docs/api/payments/v2/#captures_refund). It does not
// send our reason, because PayPal shows it to the customer.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	sum, err := amountOf(r.Money)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	of, capture, err := c.refundable(ctx, r)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, kit.NotSent(err)
	case capture == nil:
		return gateway.RefusedRefund(of.order), nil
	}
	body, err := kit.With(refundRequest{sum, r.Refund.String()}, r.ProviderData, further().Refund)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	var back refund
	to := capturesPath + "/" + url.PathEscape(capture.ID) + "/refund"
	refused, err := c.api.Post(ctx, to, keyed(r.IdempotencyKey), r.Permit, body, &back)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case refused == nil:
		return refundOutcome(back, of.id)
	}
	return gateway.RefusedRefund(refused.code()), nil
}

// refundable returns the payment and the capture to refund: the named one, else the last one, or nil if it has no such
// capture. When PayPal has deleted the order, it does not state an authorization's captures.
func (c *Client) refundable(ctx context.Context, r gateway.RefundCall) (made, *movement, error) {
	found, err := c.find(ctx, r.ProviderPaymentID, r.Container, &r.Permit)
	if err != nil {
		return made{}, nil, err
	}
	of, _ := found.named(r.ProviderPaymentID)
	of.order = found.Status
	taken := of.taken()
	if r.Capture != "" {
		taken = slices.DeleteFunc(taken, func(m movement) bool { return m.ID != r.Capture })
	}
	switch {
	case len(taken) > 0:
		return of, &taken[len(taken)-1], nil
	case found.Status == "" && len(of.captures) == 0:
		return made{}, nil, gateway.ErrInconclusive
	}
	return of, nil, nil
}

// paymentOf returns the payment of a refund. It returns ErrNoSuchPayment if the refund belongs to another payment than
// the named payment. A webhook may have named both, and only a checksum protects it. A capture may be part of a payment
// that was authorized first.
func (c *Client) paymentOf(ctx context.Context, r refund, ref gateway.RefundRef) (string, error) {
	of, id := r.capture(), ref.ProviderPaymentID
	switch {
	case of == "" || id == "":
		return id, nil
	case of == id:
		taken, err := c.movement(ctx, capturesPath, of, nil)
		return cmp.Or(taken.authorization(), of), err
	}
	in, err := c.find(ctx, id, ref.Container, nil)
	if err != nil {
		return "", err
	}
	paid, ok := in.named(of)
	if !ok || paid.id != id && in.ID != id {
		return "", gateway.ErrNoSuchPayment
	}
	return paid.id, nil
}

// capture returns the id of the refunded capture.
func (r refund) capture() string { return up(r.Links, "captures") }

// LookupRefund implements gateway.Provider. It searches for a refund without an id in the order
// (https://developer.paypal.com/docs/api/orders/v2/#orders_get, "payments.refunds").
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if r.ProviderRefundID != "" {
		var found refund
		if err := c.get(ctx, refundsPath, r.ProviderRefundID, nil, &found); err != nil {
			return gateway.RefundOutcome{}, err
		}
		of, err := c.paymentOf(ctx, found, r)
		if err != nil {
			return gateway.RefundOutcome{}, err
		}
		return refundOutcome(found, of)
	}
	in, err := c.find(ctx, r.ProviderPaymentID, r.Container, nil)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case in.Status == "":
		return gateway.RefundOutcome{}, gateway.ErrInconclusive
	}
	for _, p := range in.made() {
		for _, back := range p.refunds {
			if back.CustomID == r.Refund.String() {
				return refundOutcome(back, p.id)
			}
		}
	}
	return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
}
