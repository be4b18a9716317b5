package adyen

import (
	"context"
	"net/http"
	"net/url"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// modification is a request to modify a payment, and its response.
type modification struct {
	MerchantAccount string  `json:"merchantAccount"`
	Reference       string  `json:"reference"`
	Amount          *amount `json:"amount,omitempty"`
	PSPReference    string  `json:"pspReference,omitempty"`
	Status          string  `json:"status,omitempty"`
}

// Capture implements gateway.Provider. The uncaptured rest is released, unless several
// partial captures are enabled for the account.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	units, err := digits.Units(cp.Money)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return c.command(ctx, cp.ProviderPaymentID, "captures", cp.IdempotencyKey, cp.Permit, modification{
		MerchantAccount: c.merchant, Reference: cp.Attempt.String(), Amount: &amount{units, string(cp.Money.Currency)},
	})
}

// Cancel implements gateway.Provider.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	return c.command(ctx, cl.ProviderPaymentID, "cancels", cl.IdempotencyKey, cl.Permit, modification{
		MerchantAccount: c.merchant, Reference: cl.Attempt.String(),
	})
}

// command requests a modification of a payment. The response, a refusal included, does
// not contain the payment's state, only that it exists.
func (c *Client) command(ctx context.Context, id, verb, key string, l gateway.Permit, body modification) (gateway.Outcome, error) {
	_, refused, err := c.modify(ctx, id, verb, key, l, body)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		return gateway.Outcome{News: fsm.NewsProcessing, ProviderPaymentID: id}, nil
	case refused.Code == codeNoPayment:
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	case refused.turnedAway():
		return gateway.Outcome{}, refused.err()
	}
	return gateway.Outcome{News: fsm.NewsProcessing, ProviderPaymentID: id, Refused: true}, nil
}

func (c *Client) modify(ctx context.Context, id, verb, key string, l gateway.Permit, body modification) (modification, *refusal, error) {
	var got modification
	path := "/payments/" + url.PathEscape(id) + "/" + verb
	refused, err := c.post(ctx, path, key, l, body, http.StatusCreated, &got)
	if err == nil && refused == nil && (got.PSPReference == "" || got.Status != "received") {
		err = errNameless
	}
	return got, refused, err
}
