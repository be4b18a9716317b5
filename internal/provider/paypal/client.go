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
	"github.com/paylatch/paylatch/internal/provider/httpjson"
)

// Client is one REST app of an account at PayPal. It implements gateway.Provider.
type Client struct {
	api    *httpjson.API[*refusal]
	tokens *call.Tokens
	orders known
}

// address is the live one; the sandbox's is https://api-m.sandbox.paypal.com
// (https://developer.paypal.com/api/rest/requests/#api-requests).
const address = "https://api-m.paypal.com"

// New returns the client of the app with this id and secret; base replaces PayPal's own
// address, and now is the clock for the expiry of access tokens.
func New(base, id, secret string, client *http.Client, now func() time.Time) *Client {
	base = strings.TrimRight(cmp.Or(base, address), "/")
	c := &Client{tokens: call.NewTokens(base+"/v1/oauth2/token", id, secret, "", client, now)}
	// A response stored under the key comes with 200, a new one with 201; a void may have none.
	c.api = &httpjson.API[*refusal]{
		Name: "PayPal", Base: base, HTTP: client, Done: []int{http.StatusOK, http.StatusCreated, http.StatusNoContent}, Read: readRefusal, Send: c.send,
	}
	return c
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
		ShowsRefunds: true, PaysOthers: true,
	}
}

// get reads an object by its id; the first read of a command has the command's permit.
func (c *Client) get(ctx context.Context, path, id string, l *gateway.Permit, out any) error {
	return c.api.Get(ctx, path+"/"+url.PathEscape(id), l, out)
}

// keyed are the headers of a command that has the whole object as its response.
func keyed(key string) http.Header {
	return http.Header{"Prefer": {"return=representation"}, "PayPal-Request-Id": {key}}
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
		a, err := call.DoJSON(ctx, c.api.HTTP, r, body)
		if err != nil || a.Status != http.StatusUnauthorized || again {
			return a, err
		}
		if refused, _ := readRefusal(a); refused == nil {
			return a, nil
		}
		c.tokens.Drop(token)
	}
}
