package checkout

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Refund implements gateway.Provider. Checkout.com has no field for a reason.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	sum, err := units(r.Money)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	body, err := kit.With(action{
		Amount: &sum, Reference: r.Refund.String(),
		Metadata: map[string]string{"refund_id": r.Refund.String(), "payment_attempt_id": r.Attempt.String()},
	}, r.ProviderData, further().Refund)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	var got accepted
	refused, err := c.api.Post(ctx, paymentPath(r.ProviderPaymentID)+"/refunds", keyed(r.IdempotencyKey), r.Permit, body, &got)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case refused != nil:
		return gateway.RefusedRefund(refused.code()), nil
	case got.ActionID == "":
		return gateway.RefundOutcome{}, errNameless
	}
	now, err := c.LookupRefund(ctx, gateway.RefundRef{
		Refund: r.Refund, ProviderRefundID: got.ActionID, ProviderPaymentID: r.ProviderPaymentID,
	})
	if err != nil {
		return gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: got.ActionID}, nil //nolint:nilerr // the refund was accepted
	}
	return now, nil
}

// LookupRefund implements gateway.Provider. A refund is an action of its payment.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if r.ProviderPaymentID == "" {
		return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
	}
	var of paid
	if err := c.api.Get(ctx, paymentPath(r.ProviderPaymentID), nil, &of); err != nil {
		return gateway.RefundOutcome{}, err
	}
	all, err := c.actions(ctx, r.ProviderPaymentID)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	for _, done := range all {
		if done.Type == "Refund" && (done.ID == r.ProviderRefundID || done.Reference == r.Refund.String()) {
			return done.refund(of.Currency)
		}
	}
	return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
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

// actions returns the actions of a payment, the latest first. They contain no currency.
func (c *Client) actions(ctx context.Context, id string) ([]done, error) {
	a, err := c.ask(ctx, paymentPath(id)+"/actions")
	if err != nil {
		return nil, err
	}
	var all []done
	if a.Status != http.StatusOK || json.Unmarshal(a.Body, &all) != nil || all == nil {
		return nil, fmt.Errorf("the response with status %d is not a list of actions", a.Status)
	}
	return all, nil
}

// declineCode returns the response code of the latest authorization.
func declineCode(all []done) string {
	for _, done := range all {
		if done.Type == "Authorization" {
			return done.ResponseCode
		}
	}
	return ""
}

func (d done) refund(currency string) (gateway.RefundOutcome, error) {
	o := gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: d.ID, Reference: d.Reference}
	switch {
	case d.Approved == nil:
	case *d.Approved:
		o.Event = fsm.EventSucceeded
	default:
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("provider_rejected", d.ResponseCode)
	}
	var err error
	o.Money, err = digits.Money(d.Amount, currency)
	return o, err
}
