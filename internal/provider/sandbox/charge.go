package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

type chargeRequest struct {
	Reference  string           `json:"reference"`
	OrderID    string           `json:"order_id,omitempty"`
	Amount     int64            `json:"amount"`
	Currency   string           `json:"currency"`
	Token      string           `json:"token"`
	Capture    string           `json:"capture,omitempty"`
	ReturnURL  string           `json:"return_url,omitempty"`
	Customer   string           `json:"customer,omitempty"`
	Save       bool             `json:"save_payment_method,omitempty"`
	Initiator  string           `json:"initiator,omitempty"`
	Email      string           `json:"email,omitempty"`
	Billing    *gateway.Address `json:"billing_address,omitempty"`
	Lines      []gateway.Line   `json:"lines,omitempty"`
	Descriptor string           `json:"statement_descriptor,omitempty"`
}

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n call.Needs
	n.If(ch.Token == "tok_billing" && ch.Customer.Billing == nil, "customer.billing_address", "is required with this payment method")
	n.Data(ch.Details)
	return n.Err()
}

// Charge implements gateway.Provider.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	request := chargeRequest{
		Reference: ch.Attempt.String(), OrderID: string(ch.Order), Amount: ch.Money.Minor, Currency: string(ch.Money.Currency),
		Token: ch.Token, Capture: string(ch.Capture), ReturnURL: ch.ReturnURL, Customer: ch.Customer.Reference,
		Save: ch.Save, Email: ch.Customer.Email, Billing: ch.Customer.Billing, Lines: ch.Lines, Descriptor: ch.StatementDescriptor,
	}
	if ch.Unattended {
		request.Initiator = "merchant"
	}
	return c.send(ctx, "/v1/charges", ch.IdempotencyKey, ch.Permit, request)
}

// Complete implements gateway.Provider: the result of a challenge comes as result from the script, as
// sandbox_result from the page.
func (c *Client) Complete(ctx context.Context, cp gateway.Completion) (gateway.Outcome, error) {
	var details struct {
		Result string `json:"result"`
		Page   string `json:"sandbox_result"`
	}
	if err := json.Unmarshal(cp.Details, &details); err != nil {
		return gateway.Outcome{}, fmt.Errorf("%w: read what the page returned: %w", gateway.ErrUnfit, err)
	}
	body := map[string]string{"result": cmp.Or(details.Result, details.Page)}
	return c.send(ctx, "/v1/charges/"+url.PathEscape(cp.ProviderPaymentID)+"/complete", cp.IdempotencyKey, cp.Permit, body)
}

// send makes a call that takes or holds money.
func (c *Client) send(ctx context.Context, path, key string, l gateway.Permit, body any) (gateway.Outcome, error) {
	var made charge
	refused, err := c.api.Post(ctx, path, keyed(key), l, body, &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		return outcome(made)
	case refused.Status == http.StatusConflict && refused.ChargeStatus == "":
		// Another call of ours is using the key: its outcome is not available here.
		return gateway.Outcome{}, errBusy
	}
	return gateway.Outcome{News: fsm.NewsFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", refused.Code)}, nil
}

// Lookup implements gateway.Provider.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	var found charge
	if err := c.api.Get(ctx, "/v1/charges/"+url.PathEscape(id), nil, &found); err != nil {
		return gateway.Outcome{}, err
	}
	return outcome(found)
}

// Find implements gateway.Provider.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	var list struct {
		Items []charge `json:"items"`
	}
	if err := c.api.Get(ctx, "/v1/charges?"+url.Values{"reference": {id.String()}}.Encode(), nil, &list); err != nil {
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
