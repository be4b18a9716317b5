package adyen

import (
	"context"
	"net/http"
	"net/url"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// modification is a request to modify a payment, and its response.
type modification struct {
	MerchantAccount string `json:"merchantAccount"`
	Reference       string `json:"reference"`
	// Payment is our reference. It names a payment that has no pspReference yet.
	Payment      string  `json:"paymentReference,omitempty"`
	Amount       *amount `json:"amount,omitempty"`
	PSPReference string  `json:"pspReference,omitempty"`
	Status       string  `json:"status,omitempty"`
}

// Capture implements gateway.Provider. Adyen releases the uncaptured rest, unless the account allows several partial
// captures: then only a cancel, or the end of the authorisation, releases it. Each of several captures carries its own
// reference, by which its webhooks may name it.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	units, err := digits.Units(cp.Money)
	if err != nil {
		return gateway.Outcome{}, err
	}
	m := modification{MerchantAccount: c.merchant, Reference: cp.Attempt.String(), Amount: &amount{units, string(cp.Money.Currency)}}
	if cp.Several {
		m.Reference = cp.IdempotencyKey
	}
	body, err := kit.With(m, cp.ProviderData, further().Capture)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return c.command(ctx, cp.ProviderPaymentID, "captures", cp.IdempotencyKey, cp.Permit, body)
}

// Cancel implements gateway.Provider. If the customer never returned from the bank's page, the payment has no
// pspReference. Cancel then cancels it by our reference (https://docs.adyen.com/api-explorer/Checkout/72/post/cancels).
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	body := modification{MerchantAccount: c.merchant, Reference: cl.Attempt.String()}
	if cl.ProviderPaymentID != "" {
		return c.command(ctx, cl.ProviderPaymentID, "cancels", cl.IdempotencyKey, cl.Permit, body)
	}
	body.Payment = cl.Attempt.String()
	made, refused, err := c.receive(ctx, "/cancels", cl.IdempotencyKey, cl.Permit, body)
	o, err := c.received("", made, refused, err)
	if err == nil {
		o.Container = cl.Container
	}
	return o, err
}

// command requests a modification of a payment. The response, even a refusal, does not contain the payment's state.
func (c *Client) command(ctx context.Context, id, verb, key string, l gateway.Permit, body any) (gateway.Outcome, error) {
	made, refused, err := c.modify(ctx, id, verb, key, l, body)
	return c.received(id, made, refused, err)
}

// received returns the outcome of a request to modify a payment.
func (c *Client) received(id string, made modification, refused *refusal, err error) (gateway.Outcome, error) {
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		return gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: id, ProviderRef: made.PSPReference}, nil
	case refused.Code == codeNoPayment:
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	case refused.turnedAway():
		return gateway.Outcome{}, refused.err()
	}
	return gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: id, Refused: true}, nil
}

func (c *Client) modify(ctx context.Context, id, verb, key string, l gateway.Permit, body any) (modification, *refusal, error) {
	return c.receive(ctx, "/payments/"+url.PathEscape(id)+"/"+verb, key, l, body)
}

// receive sends a request that Adyen only acknowledges.
func (c *Client) receive(ctx context.Context, path, key string, l gateway.Permit, body any) (modification, *refusal, error) {
	var got modification
	refused, err := c.post(ctx, path, key, l, body, http.StatusCreated, &got)
	if err == nil && refused == nil && (got.PSPReference == "" || got.Status != "received") {
		err = errNameless
	}
	return got, refused, err
}
