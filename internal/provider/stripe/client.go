// Package stripe calls Stripe's API (https://docs.stripe.com/api). A payment is a payment intent that is created and
// confirmed in one call.
//
// Requests and responses have the types of stripe-go. The package does not use stripe-go's client. That client checks no
// permit, can't report whether anything was sent, accepts a redirect's page as a response, and makes the program a third
// larger.
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
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Client is one account at Stripe. It implements gateway.Provider.
type Client struct {
	kit.TakesAtOnce

	base, key string
	// connected is the account that the requests are made for; empty for the key's own account.
	connected string
	http      *http.Client
}

// New returns the client of the account that owns the secret key. The base replaces Stripe's own address.
func New(base, key string, client *http.Client) *Client {
	return &Client{base: strings.TrimRight(cmp.Or(base, stripe.APIURL), "/"), key: key, http: client}
}

// Connected returns the client of an account that is connected to the key's account, the platform. Its payments are direct charges:
// they, their refunds, their disputes and their money are the connected account's (https://docs.stripe.com/connect/direct-charges).
func (c *Client) Connected(account string) *Client {
	of := *c
	of.connected = account
	return &of
}

const (
	// keyLife is Stripe's key life minus one hour. Stripe may delete a key "after they're at least 24 hours old"
	// (https://docs.stripe.com/api/idempotent_requests).
	keyLife = 23 * time.Hour
	// findLag is the time after which a search finds a payment "under normal operating conditions". In an outage it
	// takes up to an hour, and merchants in India have no search (https://docs.stripe.com/api/payment_intents/search).
	findLag = time.Minute
)

// Capabilities implements gateway.Provider. https://docs.stripe.com/api describes "Payment Intents" (one capture, full
// or partial, or several with multicapture, which the account and the card must support; cancel of what is on hold) and "Refunds" (any number of parts). Stripe's lists, such as a payment's
// refunds, "aren't subject to the availability delay" of its search (https://docs.stripe.com/search#data-freshness).
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: keyLife, Lookup: payment.LookupByReference, FindLag: findLag, Identity: payment.IdentityOwn, Complete: true,
		Captures: payment.CapturesSeveral, CapturesSeen: true, Cancels: payment.CancelsByID,
		Refunds: payment.RefundsParts, RefundLookup: payment.RefundLookupInPayment, RefundsConsistent: true, Shows: payment.ShowsDisputes,
	}
}

// post sends a command. The permit is used up when the first byte is sent.
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

// read is get with the permit of the command that begins with this read.
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

// errForbidden is returned if a restricted key has no permission to read an object
// (https://docs.stripe.com/keys/restricted-api-keys).
var errForbidden = errors.New("the key may not read this")

func (c *Client) request(method, path string) kit.Request {
	h := http.Header{"Authorization": {"Bearer " + c.key}, "Stripe-Version": {stripe.APIVersion}}
	if c.connected != "" { // "per-request", also of reads (https://docs.stripe.com/api/connected-accounts)
		h.Set("Stripe-Account", c.connected)
	}
	return kit.Request{Method: method, URL: c.base + path, Header: h}
}

// do sends a request. It returns a definitive error of Stripe as a refusal.
func (c *Client) do(ctx context.Context, r kit.Request, out any) (*stripe.Error, error) {
	a, err := kit.Do(ctx, c.http, r)
	switch {
	case err != nil:
		return nil, err
	case a.Status >= http.StatusBadRequest:
		return readError(a)
	case a.Status != http.StatusOK:
		return nil, fmt.Errorf("unexpected response of Stripe with status %d", a.Status)
	}
	return nil, a.Read(out)
}

// account returns the id of the key's account (https://docs.stripe.com/api/accounts/retrieve).
func (c *Client) account(ctx context.Context) (string, error) {
	r := c.request(http.MethodGet, "/v1/account")
	return kit.FetchMerchant(ctx, c.http, r.URL, r.Header, "id")
}

func encode(params any) string {
	values := &form.Values{}
	form.AppendTo(values, params)
	return values.ToValues().Encode() // sorted by name: extra values are unordered, and a key belongs to one exact request
}

// readError returns a definitive error as a refusal, and any other error as an error. A response that is not in Stripe's
// format may come from a proxy, so it is not a refusal.
func readError(a kit.Answer) (*stripe.Error, error) {
	var body struct {
		Error *stripe.Error `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil || body.Error == nil {
		return nil, fmt.Errorf("the response with status %d is not in Stripe's format", a.Status)
	}
	body.Error.HTTPStatusCode = a.Status
	if !definitive(body.Error) {
		return nil, said(body.Error)
	}
	return body.Error, nil
}

// definitive reports whether the error refuses this request. Status 409 and an idempotency_error concern another call
// with the same key. 424, 429 and 5xx are transient (https://docs.stripe.com/api/errors).
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

// said returns a short error. Stripe's own error is not used, because it contains the whole payment with the client
// secret.
func said(e *stripe.Error) error {
	return fmt.Errorf("stripe responded with %d %s %s", e.HTTPStatusCode, e.Type, e.Code)
}

var errNameless = errors.New("the answer names no object")

// page is a page of a list. Data is nil if the response has no list.
type page[T any] struct {
	Data    []T  `json:"data"`
	HasMore bool `json:"has_more"`
}
