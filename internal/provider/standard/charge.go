package standard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	n.Data(ch.Details)
	return n.Err()
}

// Charge implements gateway.Provider.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	request := ChargeRequest{
		Reference: ch.Attempt.String(), OrderID: string(ch.Order), Amount: ch.Money.Minor, Currency: string(ch.Money.Currency),
		Token: ch.Token, Capture: string(ch.Capture), ReturnURL: ch.ReturnURL, Customer: ch.Customer.Reference,
		Save: ch.Save, Email: ch.Customer.Email, Billing: ch.Customer.Billing, Lines: ch.Lines, Descriptor: ch.StatementDescriptor,
	}
	if ch.Unattended {
		request.Initiator = "merchant"
	}
	o, _, err := c.send(ctx, "/v1/charges", ch.IdempotencyKey, ch.Permit, request)
	return o, err
}

// Complete implements gateway.Provider. It sends the result of the page or the script unchanged. If the provider refuses
// because the charge is not pending any more, Complete looks the charge up: its customer may have paid it in the
// meantime.
func (c *Client) Complete(ctx context.Context, cp gateway.Completion) (gateway.Outcome, error) {
	details := bytes.TrimSpace(cp.Details)
	if !bytes.HasPrefix(details, []byte("{")) || !json.Valid(details) {
		return gateway.Outcome{}, fmt.Errorf("%w: what the page returned is no JSON object", gateway.ErrUnsupportedRequest)
	}
	o, refused, err := c.send(ctx, "/v1/charges/"+url.PathEscape(cp.ProviderPaymentID)+"/complete", cp.IdempotencyKey, cp.Permit, CompleteRequest{details})
	if refused != nil && refused.ChargeStatus != "" && refused.ChargeStatus != Pending {
		return c.Lookup(ctx, cp.ProviderPaymentID)
	}
	return o, err
}

// send makes a call that captures or authorizes money. For a refusal it returns both the outcome and the refusal.
func (c *Client) send(ctx context.Context, path, key string, l gateway.Permit, body any) (gateway.Outcome, *RefusalError, error) {
	var made Charge
	refused, err := c.api.Post(ctx, path, keyed(key), l, body, &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, nil, err
	case refused == nil:
		o, err := outcome(made)
		return o, nil, err
	}
	return gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", refused.Code)}, refused, nil
}

// Lookup implements gateway.Provider. For a container's id, the contract returns the most advanced charge in the
// container.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	var found Charge
	if err := c.api.Get(ctx, "/v1/charges/"+url.PathEscape(id), nil, &found); err != nil {
		return gateway.Outcome{}, err
	}
	return outcome(found)
}

// Find implements gateway.Provider.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	found, err := only(ctx, c, "/v1/charges", id.String(), func(c Charge) string { return c.Reference })
	if err != nil {
		return gateway.Outcome{}, err
	}
	return outcome(found)
}

var errOthers = errors.New("the provider lists several objects for one reference, or one of another reference")

// only returns the one object in a list with this reference. Only an empty list shows that there is no such object. A
// response without a list, or a provider that lacks the list, shows nothing.
func only[T any](ctx context.Context, c *Client, path, reference string, of func(T) string) (one T, err error) {
	var list struct {
		Items []T `json:"items"`
	}
	err = c.api.Get(ctx, path+"?"+url.Values{"reference": {reference}}.Encode(), nil, &list)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return one, errNoList
	case err != nil:
		return one, err
	case list.Items == nil:
		return one, errNameless
	case len(list.Items) == 0:
		return one, gateway.ErrNoSuchPayment
	case len(list.Items) > 1, of(list.Items[0]) != reference:
		return one, errOthers
	}
	return list.Items[0], nil
}
