package adyen

import (
	"context"
	"net/http"
	"net/url"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// modification is a request about a payment, and the answer to it.
type modification struct {
	MerchantAccount string  `json:"merchantAccount"`
	Reference       string  `json:"reference"`
	Amount          *amount `json:"amount,omitempty"`
	PSPReference    string  `json:"pspReference,omitempty"`
	Status          string  `json:"status,omitempty"`
}

// Capture implements payment.Provider. What is not captured is released, unless
// several partial captures are enabled for the account.
func (c *Client) Capture(ctx context.Context, cp payment.Capture) (payment.Outcome, error) {
	units, err := digits.Units(cp.Money)
	if err != nil {
		return payment.Outcome{}, err
	}
	return c.command(ctx, cp.ProviderPaymentID, "captures", cp.IdempotencyKey, cp.Licence, modification{
		MerchantAccount: c.merchant, Reference: cp.Attempt.String(), Amount: &amount{units, string(cp.Money.Currency)},
	})
}

// Cancel implements payment.Provider.
func (c *Client) Cancel(ctx context.Context, cl payment.Cancel) (payment.Outcome, error) {
	return c.command(ctx, cl.ProviderPaymentID, "cancels", cl.IdempotencyKey, cl.Licence, modification{
		MerchantAccount: c.merchant, Reference: cl.Attempt.String(),
	})
}

// command asks for a modification of a payment. Whether it was received or was
// refused, how the payment stands is not said, only that there is one.
func (c *Client) command(ctx context.Context, id, verb, key string, l payment.Licence, body modification) (payment.Outcome, error) {
	_, refused, err := c.modify(ctx, id, verb, key, l, body)
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case refused == nil:
		return payment.Outcome{News: fsm.NewsProcessing, ProviderPaymentID: id}, nil
	case refused.Code == codeNoPayment:
		return payment.Outcome{}, payment.ErrNoSuchPayment
	case refused.turnedAway():
		return payment.Outcome{}, refused.err()
	}
	return payment.Outcome{News: fsm.NewsProcessing, ProviderPaymentID: id, Refused: true}, nil
}

func (c *Client) modify(ctx context.Context, id, verb, key string, l payment.Licence, body modification) (modification, *refusal, error) {
	var got modification
	path := "/payments/" + url.PathEscape(id) + "/" + verb
	refused, err := c.post(ctx, path, key, l, body, http.StatusCreated, &got)
	if err == nil && refused == nil && (got.PSPReference == "" || got.Status != "received") {
		err = errNameless
	}
	return got, refused, err
}
