package checkout

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Refund implements payment.Provider. There is no field for a reason: ours stays
// with us.
func (c *Client) Refund(ctx context.Context, r payment.RefundCall) (payment.RefundOutcome, error) {
	units, err := digits.Units(r.Money)
	if err != nil {
		return payment.RefundOutcome{}, err
	}
	var got accepted
	refused, err := c.post(ctx, paymentPath(r.ProviderPaymentID)+"/refunds", r.IdempotencyKey, r.Licence, action{
		Amount: &units, Reference: r.Refund.String(),
		Metadata: map[string]string{"refund_id": r.Refund.String(), "payment_attempt_id": r.Attempt.String()},
	}, &got)
	switch {
	case err != nil:
		return payment.RefundOutcome{}, err
	case refused != nil:
		return payment.RefusedRefund(refused.code()), nil
	case got.ActionID == "":
		return payment.RefundOutcome{}, errNameless
	}
	now, err := c.LookupRefund(ctx, payment.RefundRef{
		Refund: r.Refund, ProviderRefundID: got.ActionID, ProviderPaymentID: r.ProviderPaymentID,
	})
	if err != nil {
		return payment.RefundOutcome{News: fsm.NewsProcessing, ProviderRefundID: got.ActionID}, nil //nolint:nilerr // it was accepted
	}
	return now, nil
}

// LookupRefund implements payment.Provider: a refund is an action of its payment.
func (c *Client) LookupRefund(ctx context.Context, r payment.RefundRef) (payment.RefundOutcome, error) {
	if r.ProviderPaymentID == "" {
		return payment.RefundOutcome{}, payment.ErrNoSuchPayment
	}
	var of paid
	if err := c.get(ctx, paymentPath(r.ProviderPaymentID), &of); err != nil {
		return payment.RefundOutcome{}, err
	}
	all, err := c.actions(ctx, r.ProviderPaymentID)
	if err != nil {
		return payment.RefundOutcome{}, err
	}
	for _, done := range all {
		if done.Type == "Refund" && (done.ID == r.ProviderRefundID || done.Reference == r.Refund.String()) {
			return done.refund(of.Currency)
		}
	}
	return payment.RefundOutcome{}, payment.ErrNoSuchPayment
}

// done is an action of a payment.
type done struct {
	ID           string `json:"id"`
	Type         string `json:"type"`
	Amount       int64  `json:"amount"`
	Approved     *bool  `json:"approved"`
	ResponseCode string `json:"response_code"`
	Reference    string `json:"reference"`
}

// actions are those of a payment, the latest first. They don't say the currency.
func (c *Client) actions(ctx context.Context, id string) ([]done, error) {
	a, err := c.ask(ctx, paymentPath(id)+"/actions")
	if err != nil {
		return nil, err
	}
	var all []done
	if a.Status != http.StatusOK || json.Unmarshal(a.Body, &all) != nil || all == nil {
		return nil, fmt.Errorf("not a list of actions: %d", a.Status)
	}
	return all, nil
}

// declineCode is the latest authorisation's.
func declineCode(all []done) string {
	for _, done := range all {
		if done.Type == "Authorization" {
			return done.ResponseCode
		}
	}
	return ""
}

func (d done) refund(currency string) (payment.RefundOutcome, error) {
	o := payment.RefundOutcome{News: fsm.NewsProcessing, ProviderRefundID: d.ID}
	switch {
	case d.Approved == nil:
	case *d.Approved:
		o.News = fsm.NewsSucceeded
	default:
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure("provider_rejected", d.ResponseCode)
	}
	var err error
	o.Money, err = digits.Money(d.Amount, currency)
	return o, err
}
