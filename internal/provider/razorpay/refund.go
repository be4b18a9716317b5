package razorpay

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

type refundRequest struct {
	Amount  int64             `json:"amount"`
	Receipt string            `json:"receipt"`
	Notes   map[string]string `json:"notes"`
}

// Refund implements payment.Provider
// (https://razorpay.com/docs/api/refunds/normal-refunds-idempotent/). Our reason
// stays with us.
func (c *Client) Refund(ctx context.Context, r payment.RefundCall) (payment.RefundOutcome, error) {
	units, err := amount(r.Money)
	if err != nil {
		return payment.RefundOutcome{}, err
	}
	id, status, err := c.paymentOf(ctx, r.ProviderPaymentID, &r.Licence)
	switch {
	case err != nil:
		return payment.RefundOutcome{}, call.NotSent(err)
	case id == "":
		return payment.RefusedRefund(status), nil
	}
	var made refund
	header := http.Header{"X-Refund-Idempotency": {r.IdempotencyKey}}
	refused, err := c.post(ctx, paymentPath(id)+"/refund", header, r.Licence, refundRequest{
		Amount: units, Receipt: r.Refund.String(),
		Notes: map[string]string{"refund_id": r.Refund.String(), "payment_attempt_id": r.Attempt.String()},
	}, &made)
	switch {
	case err != nil:
		return payment.RefundOutcome{}, err
	case refused == nil:
		return made.outcome()
	}
	return payment.RefusedRefund(refused.code()), nil
}

// paymentOf is the payment on a link, empty for one that is not paid, whose
// status it returns.
func (c *Client) paymentOf(ctx context.Context, id string, l *payment.Licence) (paid, status string, err error) {
	if isPayment(id) {
		return id, "", nil
	}
	var found link
	if err := c.get(ctx, linkPath(id), l, &found); err != nil {
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

// LookupRefund implements payment.Provider.
func (c *Client) LookupRefund(ctx context.Context, r payment.RefundRef) (payment.RefundOutcome, error) {
	if r.ProviderRefundID != "" {
		var found refund
		if err := c.get(ctx, "/refunds/"+url.PathEscape(r.ProviderRefundID), nil, &found); err != nil {
			return payment.RefundOutcome{}, err
		}
		return found.outcome()
	}
	id, _, err := c.paymentOf(ctx, r.ProviderPaymentID, nil)
	switch {
	case err != nil:
		return payment.RefundOutcome{}, err
	case id == "":
		return payment.RefundOutcome{}, payment.ErrNoSuchPayment
	}
	return c.findRefund(ctx, id, r.Refund)
}

// pageSize is how many refunds are asked for at once
// (https://razorpay.com/docs/api/refunds/fetch-multiple-refund-payment/).
const pageSize = 100

// findRefund looks through all refunds of the payment.
func (c *Client) findRefund(ctx context.Context, of string, id payment.RefundID) (payment.RefundOutcome, error) {
	for skip := 0; ; skip += pageSize {
		var page struct {
			Items []refund `json:"items"`
		}
		query := url.Values{"count": {strconv.Itoa(pageSize)}, "skip": {strconv.Itoa(skip)}}
		if err := c.get(ctx, paymentPath(of)+"/refunds?"+query.Encode(), nil, &page); err != nil {
			return payment.RefundOutcome{}, err
		}
		if page.Items == nil {
			return payment.RefundOutcome{}, errNameless
		}
		for _, made := range page.Items {
			if made.Receipt == id.String() {
				return made.outcome()
			}
		}
		if len(page.Items) < pageSize {
			return payment.RefundOutcome{}, payment.ErrNoSuchPayment
		}
	}
}
