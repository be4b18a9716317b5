package mollie

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

type captureRequest struct {
	Amount   amount            `json:"amount"`
	Metadata map[string]string `json:"metadata"`
}

// Capture implements gateway.Provider (https://docs.mollie.com/reference/create-capture). A capture may be pending for a
// while, and the payment itself shows its state. If the method allows another capture, Capture releases the uncaptured
// rest.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	value, err := kit.Decimal(cp.Money)
	if err != nil {
		return gateway.Outcome{}, err
	}
	request := captureRequest{amount{string(cp.Money.Currency), value}, map[string]string{"payment_attempt_id": cp.Attempt.String()}}
	var made capture
	path := paymentPath(cp.ProviderPaymentID)
	refused, err := c.command(ctx, http.MethodPost, path+"/captures", cp.IdempotencyKey, cp.Permit, request, &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil && refused.Missing():
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	case refused == nil && (made.ID == "" || made.Status == ""):
		return gateway.Outcome{}, errNameless
	}
	found, err := c.find(ctx, cp.ProviderPaymentID, nil)
	if err != nil {
		return gateway.Outcome{}, err
	}
	now, err := outcome(found)
	now.Refused = refused != nil || found.captured(made.ID) == "failed"
	if err == nil && found.Status == "authorized" && now.Event == fsm.EventSucceeded {
		// The hold expires by itself later, so a failure of the release does not matter.
		_, _ = c.command(ctx, http.MethodPost, path+"/release-authorization", cp.IdempotencyKey+"-release", cp.Permit, struct{}{}, nil)
	}
	return now, err
}

// Cancel implements gateway.Provider. It releases a hold (https://docs.mollie.com/reference/release-authorization),
// which may take a while. It cancels an open payment (https://docs.mollie.com/reference/cancel-payment) if the method
// allows that. Other payments expire.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	if err := kit.EndsNoContainer(cl); err != nil {
		return gateway.Outcome{}, err
	}
	found, err := c.find(ctx, cl.ProviderPaymentID, &cl.Permit)
	if err != nil {
		return gateway.Outcome{}, err
	}
	now, err := outcome(found)
	if err != nil {
		return gateway.Outcome{}, err
	}
	path := paymentPath(cl.ProviderPaymentID)
	var refused *refusal
	switch {
	case now.Event == fsm.EventAuthorized:
		refused, err = c.command(ctx, http.MethodPost, path+"/release-authorization", cl.IdempotencyKey, cl.Permit, struct{}{}, nil)
	case now.Event == fsm.EventFailed:
		return now, nil
	case now.Event == fsm.EventSucceeded, found.Status == "authorized":
		now.Refused = true
		return now, nil
	default:
		refused, err = c.command(ctx, http.MethodDelete, path, cl.IdempotencyKey, cl.Permit, nil, &object{})
	}
	if err != nil {
		return gateway.Outcome{}, err
	}
	now, err = c.Lookup(ctx, cl.ProviderPaymentID)
	now.Refused = refused != nil
	return now, err
}
