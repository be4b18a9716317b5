package comgate

import (
	"context"
	"net/url"
	"strconv"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// Refund implements gateway.Provider (comgate-node, refund.ts). A payment can have any number of partial refunds up to
// its amount (https://help.comgate.cz/v1/docs/en/refund-payment-gateway). Comgate assigns no id to a refund: our id is
// its refId. An accepted refund counts as succeeded. No lookup and no notification reports it later; the books contain
// it after its transfer. The currency is CZK unless it is sent.
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
		return gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: r.Refund.String(), Reference: r.Refund.String(), Money: &money}, nil
	case a.refuses():
		return gateway.RefusedRefund(a.get("code")), nil
	}
	return gateway.RefundOutcome{}, a.failure()
}

// LookupRefund implements gateway.Provider: Comgate has no such method.
func (c *Client) LookupRefund(context.Context, gateway.RefundRef) (gateway.RefundOutcome, error) {
	return gateway.RefundOutcome{}, gateway.ErrUnsupported
}
