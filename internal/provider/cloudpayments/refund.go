package cloudpayments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Refund implements gateway.Provider (https://developers.cloudpayments.ru/#vozvrat-deneg). The response contains only
// the refund's number, so the outcome has the requested amount. A refund by the SBP ends later
// (https://developers.cloudpayments.ru/#sbp, "Возврат"), so Refund looks its status up.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	amount, err := kit.Decimal(r.Money)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	// The webhook reader uses this data.
	d, err := c.dataOf(map[string]string{"refund_id": r.Refund.String(), "payment_attempt_id": r.Attempt.String()}, r.Receipt, r.Money)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	id, err := transactionOf(r.ProviderPaymentID)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	a, err := c.command(ctx, "/payments/refund", r.IdempotencyKey, r.Permit, amountRequest{
		TransactionID: id, Amount: json.Number(amount), Data: d,
	})
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case !a.Success:
		return gateway.RefusedRefund(a.code()), nil
	}
	t, err := parse(a)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	now := gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: string(t.TransactionID), Money: &r.Money}
	if a, err = c.ask(ctx, "/payments/get", transactionRequest{t.TransactionID}); err == nil {
		if found, err := readRefund(a); err == nil {
			now.Event, now.Failure = found.Event, found.Failure
		}
	}
	return now, nil
}

var errNoLookup = fmt.Errorf("%w: CloudPayments reports only the last operation of a payment, which is not this refund", gateway.ErrInconclusive)

// LookupRefund implements gateway.Provider. A refund is a separate transaction. A refund without a number is found if it
// was the last operation of its payment (https://developers.cloudpayments.ru/#proverka-statusa-platezha, the newer
// method).
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if r.ProviderRefundID != "" {
		id, err := transactionOf(r.ProviderRefundID)
		if err != nil {
			return gateway.RefundOutcome{}, err
		}
		a, err := c.ask(ctx, "/payments/get", transactionRequest{id})
		if err != nil {
			return gateway.RefundOutcome{}, err
		}
		return readRefund(a)
	}
	a, err := c.last(ctx, r)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return gateway.RefundOutcome{}, errNoLookup
	case err != nil:
		return gateway.RefundOutcome{}, err
	}
	t, err := parse(a)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	if t.data()["refund_id"] != r.Refund.String() {
		return gateway.RefundOutcome{}, errNoLookup
	}
	return readRefund(a)
}

// last returns the last operation of a payment, or of the payments on a page.
func (c *Client) last(ctx context.Context, r gateway.RefundRef) (answer, error) {
	if page, ok := parseContainer(r.Container); ok {
		return c.ask(ctx, "/v2/payments/find", invoiceRequest{page.invoice})
	}
	id, err := transactionOf(r.ProviderPaymentID)
	if err != nil {
		return answer{}, err
	}
	t, err := c.transaction(ctx, "/payments/get", transactionRequest{id})
	if err != nil {
		return answer{}, err
	}
	return c.ask(ctx, "/v2/payments/find", invoiceRequest{t.InvoiceID})
}

func readRefund(a answer) (gateway.RefundOutcome, error) {
	t, err := parse(a)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	o := gateway.RefundOutcome{ProviderRefundID: string(t.TransactionID), Event: fsm.EventProcessing}
	switch t.Status {
	case "Completed":
		o.Event = fsm.EventSucceeded
	case "Declined", "Cancelled":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("provider_rejected", t.reason())
	}
	o.Money, err = t.money()
	return o, err
}
