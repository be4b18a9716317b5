package paypal

import (
	"context"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

type captureRequest struct {
	Amount       amount `json:"amount"`
	FinalCapture bool   `json:"final_capture"`
}

// Capture implements payment.Provider. What is not captured is released
// (https://developer.paypal.com/docs/api/payments/v2/#authorizations_capture).
// PayPal would take more than was authorised, up to 115 %: we don't. A capture that
// was declined is an answer of its own.
func (c *Client) Capture(ctx context.Context, cp payment.Capture) (payment.Outcome, error) {
	sum, err := amountOf(cp.Money)
	if err != nil {
		return payment.Outcome{}, err
	}
	found, err := c.find(ctx, cp.ProviderPaymentID, &cp.Licence)
	if err != nil {
		return payment.Outcome{}, err
	}
	held := found.authorization()
	if held == nil || held.less(cp.Money) {
		return refusedAs(found)
	}
	var taken movement
	path := authorizationsPath + "/" + url.PathEscape(held.ID) + "/capture"
	refused, err := c.post(ctx, path, cp.IdempotencyKey, cp.Licence, captureRequest{sum, true}, &taken)
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case refused == nil:
		o, err := outcome(found.with(taken))
		o.Refused = o.News == fsm.NewsSoftFailed
		return o, err
	}
	return c.asItStands(ctx, cp.ProviderPaymentID)
}

// finishLife is how long PayPal may be at work on a request to finish an order
// whose answer was not waited for. It documents no time; its own calls end within
// a minute.
const finishLife = 5 * time.Minute

// Cancel implements payment.Provider. What is held is voided
// (https://developer.paypal.com/docs/api/payments/v2/#authorizations_void). For an
// order that nobody finished PayPal has no call, nor needs it one: such an order
// takes no money unless we ask for it, and we no longer do. One that is approved
// may be about to be finished, by a request of ours that was sent before.
func (c *Client) Cancel(ctx context.Context, cl payment.Cancel) (payment.Outcome, error) {
	found, err := c.find(ctx, cl.ProviderPaymentID, &cl.Licence)
	if err != nil {
		return payment.Outcome{}, err
	}
	held := found.authorization()
	switch {
	case held == nil && found.Status == "APPROVED" && cl.Quiet < finishLife:
		now, err := outcome(found)
		now.Approved = false
		return now, err
	case held == nil && found.unfinished():
		return canceled(found.ID), nil
	case held == nil, len(found.taken()) > 0:
		return refusedAs(found)
	}
	path := authorizationsPath + "/" + url.PathEscape(held.ID) + "/void"
	refused, err := c.post(ctx, path, cl.IdempotencyKey, cl.Licence, struct{}{}, nil)
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case refused == nil, refused.code() == "PREVIOUSLY_VOIDED":
		return canceled(found.ID), nil
	}
	return c.asItStands(ctx, cl.ProviderPaymentID)
}

func canceled(id string) payment.Outcome {
	return payment.Outcome{News: fsm.NewsFailed, ProviderPaymentID: id, Failure: payment.NewFailure("canceled", "")}
}

// asItStands is the outcome of a command that was refused: what counts is how the
// payment stands.
func (c *Client) asItStands(ctx context.Context, id string) (payment.Outcome, error) {
	now, err := c.Lookup(ctx, id)
	now.Refused = true
	return now, err
}

// refusedAs is that of one which need not be sent.
func refusedAs(o order) (payment.Outcome, error) {
	now, err := outcome(o)
	now.Refused = true
	return now, err
}
