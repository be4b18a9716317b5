package comgate

import (
	"context"
	"net/url"
	"strconv"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// Refund implements gateway.Provider (comgate-node, refund.ts), in any number of parts up to the amount of the payment
// (https://help.comgate.cz/v1/docs/en/refund-payment-gateway). Comgate names no refund: it has our id, as its refId. One that
// was accepted is Comgate's to pay, and counts: no lookup and no notification states more of it, and the books have it once
// it is transferred. The currency is CZK unless it is sent.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	amount, err := units(r.Money)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	form := url.Values{
		"transId": {r.ProviderPaymentID}, "amount": {strconv.FormatInt(amount, 10)}, "curr": {string(r.Money.Currency)}, "refId": {r.Refund.String()},
	}
	c.mark(form)
	a, err := c.command(ctx, "refund", form, r.Permit)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case a.ok():
		money := r.Money
		return gateway.RefundOutcome{News: fsm.NewsSucceeded, ProviderRefundID: r.Refund.String(), Reference: r.Refund.String(), Money: &money}, nil
	case a.refuses():
		return gateway.RefusedRefund(a.get("code")), nil
	}
	return gateway.RefundOutcome{}, a.failure()
}

// LookupRefund implements gateway.Provider: Comgate has no such method.
func (c *Client) LookupRefund(context.Context, gateway.RefundRef) (gateway.RefundOutcome, error) {
	return gateway.RefundOutcome{}, gateway.ErrUnsupported
}
