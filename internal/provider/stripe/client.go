// Package stripe calls Stripe's API (https://docs.stripe.com/api): a payment is a
// payment intent, created and confirmed in one call.
//
// Requests and responses have the types of stripe-go. Its client is not used: it checks
// no permit, can't report whether anything was sent, accepts a redirect's page as a
// response, and makes the program a third larger.
package stripe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v86"
	"github.com/stripe/stripe-go/v86/form"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// Client is one account at Stripe. It implements gateway.Provider.
type Client struct {
	base, key string
	http      *http.Client
}

// New returns the client of the account of a secret key; base replaces Stripe's own
// address.
func New(base, key string, client *http.Client) *Client {
	return &Client{base: strings.TrimRight(cmp.Or(base, stripe.APIURL), "/"), key: key, http: client}
}

const (
	// keyLife is Stripe's less an hour: it may delete a key "after they're at least 24
	// hours old" (https://docs.stripe.com/api/idempotent_requests).
	keyLife = 23 * time.Hour
	// findLag is how soon a payment can be found "under normal operating
	// conditions"; in an outage it takes up to an hour, and merchants in India
	// have no search at all (https://docs.stripe.com/api/payment_intents/search).
	findLag = time.Minute
)

// Capabilities implements gateway.Provider: https://docs.stripe.com/api, "Payment
// Intents" (capture once, all or a part; cancel before the capture),
// "Refunds" (any number of parts). Its lists, of a payment's refunds for one, "aren't
// subject to the availability delay" of its search
// (https://docs.stripe.com/search#data-freshness).
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: keyLife, Find: true, FindLag: findLag, FindConsistent: false, Complete: true,
		Capture: true, PartialCapture: true, Cancel: true, Refund: true, PartialRefund: true, LookupRefund: true,
		RefundsConsistent: true, ShowsRefunds: true, ShowsDisputes: true,
	}
}

// post sends a command. The permit is spent when its first byte goes out.
func (c *Client) post(ctx context.Context, path, key string, l gateway.Permit, params, out any) (*stripe.Error, error) {
	r := c.request(http.MethodPost, path)
	r.Body, r.Permit = []byte(encode(params)), &l
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Idempotency-Key", key)
	return c.do(ctx, r, out)
}

func (c *Client) get(ctx context.Context, path string, params, out any) error {
	return c.read(ctx, path, nil, params, out)
}

// read is a get, under the permit of the command that begins with it.
func (c *Client) read(ctx context.Context, path string, l *gateway.Permit, params, out any) error {
	if query := encode(params); query != "" {
		path += "?" + query
	}
	r := c.request(http.MethodGet, path)
	r.Permit = l
	refused, err := c.do(ctx, r, out)
	switch {
	case refused == nil:
		return err
	case missing(refused):
		return gateway.ErrNoSuchPayment
	case refused.HTTPStatusCode == http.StatusForbidden:
		return fmt.Errorf("%w: %w", errForbidden, said(refused))
	}
	return said(refused)
}

// errForbidden is returned for what a restricted key may not read (https://docs.stripe.com/keys/restricted-api-keys).
var errForbidden = errors.New("the key may not read this")

func (c *Client) request(method, path string) call.Request {
	return call.Request{Method: method, URL: c.base + path, Header: http.Header{
		"Authorization": {"Bearer " + c.key}, "Stripe-Version": {stripe.APIVersion},
	}}
}

// do returns Stripe's refusal if it is definitive.
func (c *Client) do(ctx context.Context, r call.Request, out any) (*stripe.Error, error) {
	a, err := call.Do(ctx, c.http, r)
	switch {
	case err != nil:
		return nil, err
	case a.Status >= http.StatusBadRequest:
		return readError(a)
	case a.Status != http.StatusOK:
		return nil, fmt.Errorf("not an answer of Stripe's: %d", a.Status)
	}
	return nil, a.Read(out)
}

func encode(params any) string {
	values := &form.Values{}
	form.AppendTo(values, params)
	return values.ToValues().Encode() // by name: extra values have no order, and a key is of one request
}

// readError returns a definitive error as a refusal, and any other as an error. A
// response that is not in Stripe's format may come from a proxy: it refuses nothing.
func readError(a call.Answer) (*stripe.Error, error) {
	var body struct {
		Error *stripe.Error `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil || body.Error == nil {
		return nil, fmt.Errorf("somebody answers %d for Stripe", a.Status)
	}
	body.Error.HTTPStatusCode = a.Status
	if !definitive(body.Error) {
		return nil, said(body.Error)
	}
	return body.Error, nil
}

// definitive reports whether an error is about the request as such. 409 and an
// idempotency_error are about another call with the same key, 424, 429 and 5xx are
// transient (https://docs.stripe.com/api/errors).
func definitive(e *stripe.Error) bool {
	switch e.HTTPStatusCode {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound:
		return e.Type == stripe.ErrorTypeInvalidRequest || e.Type == stripe.ErrorTypeCard
	}
	return false
}

// missing reports whether Stripe has no such object.
func missing(e *stripe.Error) bool {
	return e.HTTPStatusCode == http.StatusNotFound && e.Code == stripe.ErrorCodeResourceMissing
}

// Stripe's own error is not used: it contains the whole payment, with the client's
// secret.
func said(e *stripe.Error) error {
	return fmt.Errorf("stripe says %d %s %s", e.HTTPStatusCode, e.Type, e.Code)
}

var errNameless = errors.New("the answer names no object")

// page is one of a list. Data is nil if there is no list.
type page[T any] struct {
	Data    []T  `json:"data"`
	HasMore bool `json:"has_more"`
}
