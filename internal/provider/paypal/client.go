// Package paypal calls PayPal's Orders and Payments APIs, version 2. See
// https://developer.paypal.com/docs/api/orders/v2/ and …/payments/v2/. A payment is an order that contains an
// authorization, a capture and refunds.
//
// When the customer has approved an order on PayPal's page, PayPal captures nothing by itself. The order is Approved,
// and a second call finishes it.
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
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Client is one REST app of an account at PayPal. It implements gateway.Provider.
type Client struct {
	api    *kit.API[*refusal]
	tokens *kit.Tokens
	orders known
}

// address is the live address. The sandbox's address is https://api-m.sandbox.paypal.com
// (https://developer.paypal.com/api/rest/requests/#api-requests).
const address = "https://api-m.paypal.com"

// New returns the client of the app with this id and secret. The base replaces PayPal's own address. The clock now
// decides when access tokens expire.
func New(base, id, secret string, client *http.Client, now func() time.Time) *Client {
	base = strings.TrimRight(cmp.Or(base, address), "/")
	c := &Client{tokens: kit.NewTokens(base+"/v1/oauth2/token", id, secret, "", client, now)}
	// A response that is stored under the key has status 200, a new response 201. A void may have an empty response
	// (204).
	c.api = &kit.API[*refusal]{
		Name: "PayPal", Base: base, HTTP: client, Done: []int{http.StatusOK, http.StatusCreated, http.StatusNoContent}, Read: readRefusal, Send: c.send,
	}
	return c
}

// keyLife is PayPal's key life for orders minus one hour: "The server stores keys for 6 hours"
// (https://developer.paypal.com/docs/api/orders/v2/#orders_create). The keys of captures and refunds live for 45 days.
const keyLife = 5 * time.Hour

// Capabilities implements gateway.Provider. https://developer.paypal.com/docs/api/payments/v2/ describes full and
// partial captures, voids of what is not captured, and any number of partial refunds of each capture. An authorization is valid for
// 29 days; partial captures of a PayPal wallet must be enabled for the account
// (https://developer.paypal.com/docs/checkout/advanced/authorization-honor). PayPal has no lookup by our reference.
// A lookup finds a refund in its order without a key. PayPal does not document that an order shows a new refund at once.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: keyLife, Lookup: payment.LookupByID, Identity: payment.IdentityByPayee, Complete: true,
		Captures: payment.CapturesSeveral, CapturesSeen: true, Cancels: payment.CancelsByID,
		Refunds: payment.RefundsOfCaptures, RefundLookup: payment.RefundLookupInPayment, Shows: payment.ShowsRefunds,
	}
}

// get reads an object by its id. The first read of a command carries the command's permit.
func (c *Client) get(ctx context.Context, path, id string, l *gateway.Permit, out any) error {
	return c.api.Get(ctx, path+"/"+url.PathEscape(id), l, out)
}

// keyed returns the headers of a command. PayPal then responds with the whole object.
func keyed(key string) http.Header {
	return http.Header{"Prefer": {"return=representation"}, "PayPal-Request-Id": {key}}
}

// send adds the access token. PayPal checks the token before the request. So a request with a rejected token is sent
// again once, with a new token (https://developer.paypal.com/api/rest/authentication/). A 401 that does not come from
// PayPal is no evidence about the request.
func (c *Client) send(ctx context.Context, r kit.Request, body any) (kit.Answer, error) {
	for again := false; ; again = true {
		token, err := c.tokens.Token(ctx)
		switch {
		case err != nil && r.Permit != nil:
			return kit.Answer{}, fmt.Errorf("%w: %w", gateway.ErrNotSent, err)
		case err != nil:
			return kit.Answer{}, err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		a, err := kit.DoJSON(ctx, c.api.HTTP, r, body)
		if err != nil || a.Status != http.StatusUnauthorized || again {
			return a, err
		}
		if refused, _ := readRefusal(a); refused == nil {
			return a, nil
		}
		c.tokens.Drop(token)
	}
}
