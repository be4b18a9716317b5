package razorpay

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

type refundRequest struct {
	Amount  int64             `json:"amount"`
	Receipt string            `json:"receipt"`
	Notes   map[string]string `json:"notes"`
}

// Refund implements gateway.Provider (https://razorpay.com/docs/api/refunds/normal-refunds-idempotent/). It does not
// send the reason.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	units, err := amount(r.Money)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	id, status, err := c.paymentOf(ctx, cmp.Or(r.ProviderPaymentID, r.Container), &r.Permit)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, kit.NotSent(err)
	case id == "":
		return gateway.RefusedRefund(status), nil
	}
	var made refund
	header := http.Header{"X-Refund-Idempotency": {r.IdempotencyKey}}
	refused, err := c.api.Post(ctx, paymentPath(id)+"/refund", header, r.Permit, refundRequest{
		Amount: units, Receipt: r.Refund.String(),
		Notes: map[string]string{"refund_id": r.Refund.String(), "payment_attempt_id": r.Attempt.String()},
	}, &made)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case refused == nil:
		return made.outcome()
	}
	return gateway.RefusedRefund(refused.code()), nil
}

// paymentOf returns the id of the payment itself, or of the payment that paid a link or an order. For a link or an order
// it also returns the status. The id is empty if the link or order is unpaid.
func (c *Client) paymentOf(ctx context.Context, id string, l *gateway.Permit) (paid, status string, err error) {
	if isPayment(id) {
		return id, "", nil
	}
	if isOrder(id) {
		return c.paymentOfOrder(ctx, id, l)
	}
	var found link
	if err := c.api.Get(ctx, linkPath(id), l, &found); err != nil {
		return "", "", err
	}
	switch {
	case found.ID == "" || found.Status == "":
		return "", "", errNameless
	case found.Status == statusPaid && len(found.Payments) == 0:
		return "", "", errNameless
	case found.Status == statusPaid:
		return found.Payments[0].PaymentID, found.Status, nil
	}
	return "", found.Status, nil
}

// LookupRefund implements gateway.Provider.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if r.ProviderRefundID != "" {
		var found refund
		if err := c.api.Get(ctx, "/refunds/"+url.PathEscape(r.ProviderRefundID), nil, &found); err != nil {
			return gateway.RefundOutcome{}, err
		}
		if isPayment(r.ProviderPaymentID) && found.Of != "" && found.Of != r.ProviderPaymentID {
			return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment // the refund belongs to another payment
		}
		return found.outcome()
	}
	id, _, err := c.paymentOf(ctx, cmp.Or(r.ProviderPaymentID, r.Container), nil)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case id == "":
		return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
	}
	return c.findRefund(ctx, id, r.Refund)
}

// pageSize is the maximum size of a list's page. It is documented for the refunds of a payment
// (https://razorpay.com/docs/api/refunds/fetch-multiple-refund-payment/).
const pageSize = 100

// findRefund searches all refunds of the payment.
func (c *Client) findRefund(ctx context.Context, of string, id payment.RefundID) (found gateway.RefundOutcome, err error) {
	none := gateway.ErrNoSuchPayment
	err = c.eachRefund(ctx, of, func(made refund) (bool, error) {
		if made.Receipt != id.String() {
			return false, nil
		}
		none = nil
		found, err = made.outcome()
		return true, err
	})
	if err == nil {
		err = none
	}
	return found, err
}

// eachRefund passes the refunds of a payment until take returns true or an error.
func (c *Client) eachRefund(ctx context.Context, of string, take func(refund) (bool, error)) error {
	for skip := 0; ; skip += pageSize {
		var page struct {
			Items []refund `json:"items"`
		}
		query := url.Values{"count": {strconv.Itoa(pageSize)}, "skip": {strconv.Itoa(skip)}}
		if err := c.api.Get(ctx, paymentPath(of)+"/refunds?"+query.Encode(), nil, &page); err != nil {
			return err
		}
		if page.Items == nil {
			return errNameless
		}
		for _, made := range page.Items {
			if done, err := take(made); done || err != nil {
				return err
			}
		}
		if len(page.Items) < pageSize {
			return nil
		}
	}
}
