// Package paypal calls PayPal's Orders and Payments APIs, version 2
// (https://developer.paypal.com/docs/api/orders/v2/, …/payments/v2/): a payment is an
// order, which then contains an authorization, a capture and refunds.
//
// An order that its customer has approved on PayPal's page captures nothing by itself:
// it is Approved, and finished by a second call.
package paypal

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// Client is one REST app of an account at PayPal. It implements gateway.Provider.
type Client struct {
	base   string
	http   *http.Client
	tokens *call.Tokens
}

// address is the live one; the sandbox's is https://api-m.sandbox.paypal.com
// (https://developer.paypal.com/api/rest/requests/#api-requests).
const address = "https://api-m.paypal.com"

// New returns the client of the app with this id and secret; base replaces PayPal's own
// address, and now is the clock for the expiry of access tokens.
func New(base, id, secret string, client *http.Client, now func() time.Time) *Client {
	base = strings.TrimRight(cmp.Or(base, address), "/")
	return &Client{base: base, http: client, tokens: call.NewTokens(base+"/v1/oauth2/token", id, secret, "", client, now)}
}

// keyLife is PayPal's for orders less an hour: "The server stores keys for 6
// hours" (https://developer.paypal.com/docs/api/orders/v2/#orders_create). Those
// of captures and refunds live for 45 days.
const keyLife = 5 * time.Hour

// Capabilities implements gateway.Provider:
// https://developer.paypal.com/docs/api/payments/v2/ (capture all or a part, void the
// uncaptured, refund any number of parts). PayPal has no lookup by our reference, and
// the lookup of a refund in its order needs no key; that the order shows a new one at
// once is not documented.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: keyLife, Complete: true,
		Capture: true, PartialCapture: true, Cancel: true, Refund: true, PartialRefund: true, LookupRefund: true,
	}
}

// post sends a command. The permit is spent when its first byte goes out.
func (c *Client) post(ctx context.Context, path, key string, l gateway.Permit, body, out any) (*refusal, error) {
	return c.do(ctx, call.Request{Method: http.MethodPost, URL: c.base + path, Permit: &l, Header: http.Header{
		"Prefer": {"return=representation"}, "PayPal-Request-Id": {key},
	}}, body, out)
}

// get sends a read; the first read of a command has the command's permit.
func (c *Client) get(ctx context.Context, path, id string, l *gateway.Permit, out any) error {
	refused, err := c.do(ctx, call.Request{
		Method: http.MethodGet, URL: c.base + path + "/" + url.PathEscape(id), Header: http.Header{}, Permit: l,
	}, nil, out)
	switch {
	case refused == nil:
		return err
	case refused.missing():
		return gateway.ErrNoSuchPayment
	}
	return refused
}

// do returns PayPal's refusal if it is definitive. A response stored under the key
// comes with 200, a new one with 201; a void may have none.
func (c *Client) do(ctx context.Context, r call.Request, body, out any) (*refusal, error) {
	a, err := c.send(ctx, r, body)
	switch {
	case err != nil:
		return nil, err
	case a.Status >= http.StatusBadRequest:
		return readRefusal(a)
	case a.Status == http.StatusNoContent && out == nil:
		return nil, nil
	case a.Status != http.StatusOK && a.Status != http.StatusCreated:
		return nil, fmt.Errorf("not an answer of PayPal's: %d", a.Status)
	case out == nil:
		return nil, nil
	}
	return nil, a.Read(out)
}

// send adds the access token. PayPal checks the token before the request, so that a
// request with a rejected token is sent again with a new one, once
// (https://developer.paypal.com/api/rest/authentication/). A 401 that is not PayPal's
// is no evidence about the request.
func (c *Client) send(ctx context.Context, r call.Request, body any) (call.Answer, error) {
	for again := false; ; again = true {
		token, err := c.tokens.Token(ctx)
		switch {
		case err != nil && r.Permit != nil:
			return call.Answer{}, fmt.Errorf("%w: %w", gateway.ErrNotSent, err)
		case err != nil:
			return call.Answer{}, err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		a, err := call.DoJSON(ctx, c.http, r, body)
		if err != nil || a.Status != http.StatusUnauthorized || again {
			return a, err
		}
		if refused, _ := readRefusal(a); refused == nil {
			return a, nil
		}
		c.tokens.Drop(token)
	}
}
