package sandbox

import (
	"context"
	"net/http"
	"net/url"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

type chargeRequest struct {
	Reference string `json:"reference"`
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
	Token     string `json:"token"`
	Capture   string `json:"capture,omitempty"`
	ReturnURL string `json:"return_url,omitempty"`
	Customer  string `json:"customer,omitempty"`
}

// Charge implements gateway.Provider.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	var made charge
	refused, err := c.post(ctx, "/v1/charges", ch.IdempotencyKey, ch.Permit, chargeRequest{
		Reference: ch.Attempt.String(), Amount: ch.Money.Minor, Currency: string(ch.Money.Currency),
		Token: ch.Token, Capture: string(ch.Capture), ReturnURL: ch.ReturnURL, Customer: ch.Customer,
	}, &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil && refused.Status == http.StatusConflict:
		// Another call of ours is using the key: its outcome is not available here.
		return gateway.Outcome{}, errBusy
	case refused != nil:
		return gateway.Outcome{News: fsm.NewsFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", refused.Code)}, nil
	}
	return outcome(made)
}

// Lookup implements gateway.Provider.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	var found charge
	if err := c.get(ctx, "/v1/charges/"+url.PathEscape(id), nil, &found); err != nil {
		return gateway.Outcome{}, err
	}
	return outcome(found)
}

// Find implements gateway.Provider.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	var list struct {
		Items []charge `json:"items"`
	}
	if err := c.get(ctx, "/v1/charges", url.Values{"reference": {id.String()}}, &list); err != nil {
		return gateway.Outcome{}, err
	}
	switch {
	case list.Items == nil:
		return gateway.Outcome{}, errNameless
	case len(list.Items) == 0:
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	return outcome(list.Items[0])
}
