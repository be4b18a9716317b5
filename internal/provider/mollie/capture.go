package mollie

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

type captureRequest struct {
	Amount   amount            `json:"amount"`
	Metadata map[string]string `json:"metadata"`
}

// Capture implements payment.Provider (https://docs.mollie.com/reference/create-capture).
// A capture may be under way for a while; the payment itself tells. What is left
// of the hold is released, where the method would let it be captured later.
func (c *Client) Capture(ctx context.Context, cp payment.Capture) (payment.Outcome, error) {
	value, err := call.Decimal(cp.Money)
	if err != nil {
		return payment.Outcome{}, err
	}
	request := captureRequest{amount{string(cp.Money.Currency), value}, map[string]string{"payment_attempt_id": cp.Attempt.String()}}
	var made capture
	path := paymentPath(cp.ProviderPaymentID)
	refused, err := c.command(ctx, http.MethodPost, path+"/captures", cp.IdempotencyKey, cp.Licence, request, &made)
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case refused != nil && refused.missing():
		return payment.Outcome{}, payment.ErrNoSuchPayment
	case refused == nil && (made.ID == "" || made.Status == ""):
		return payment.Outcome{}, errNameless
	}
	found, err := c.find(ctx, cp.ProviderPaymentID, nil)
	if err != nil {
		return payment.Outcome{}, err
	}
	now, err := outcome(found)
	now.Refused = refused != nil || found.captured(made.ID) == "failed"
	if err == nil && found.Status == "authorized" && now.News == fsm.NewsSucceeded {
		// The hold ends by itself, too, only later: whether this succeeds is no news.
		_, _ = c.command(ctx, http.MethodPost, path+"/release-authorization", cp.IdempotencyKey+"-release", cp.Licence, struct{}{}, nil)
	}
	return now, err
}

// Cancel implements payment.Provider. What is held is released
// (https://docs.mollie.com/reference/release-authorization), which may take a
// while; what is open is cancelled (https://docs.mollie.com/reference/cancel-payment),
// if its method allows that: others expire by themselves.
func (c *Client) Cancel(ctx context.Context, cl payment.Cancel) (payment.Outcome, error) {
	found, err := c.find(ctx, cl.ProviderPaymentID, &cl.Licence)
	if err != nil {
		return payment.Outcome{}, err
	}
	now, err := outcome(found)
	if err != nil {
		return payment.Outcome{}, err
	}
	path := paymentPath(cl.ProviderPaymentID)
	var refused *refusal
	switch {
	case now.News == fsm.NewsAuthorized:
		refused, err = c.command(ctx, http.MethodPost, path+"/release-authorization", cl.IdempotencyKey, cl.Licence, struct{}{}, nil)
	case now.News == fsm.NewsFailed:
		return now, nil
	case now.News == fsm.NewsSucceeded, found.Status == "authorized":
		now.Refused = true
		return now, nil
	default:
		refused, err = c.command(ctx, http.MethodDelete, path, cl.IdempotencyKey, cl.Licence, nil, &object{})
	}
	if err != nil {
		return payment.Outcome{}, err
	}
	now, err = c.Lookup(ctx, cl.ProviderPaymentID)
	now.Refused = refused != nil
	return now, err
}
