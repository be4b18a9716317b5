// Package adyen calls Adyen's Checkout API. See https://docs.adyen.com/api-explorer/Checkout/72/overview. One call
// creates a payment with a stored payment method, or with a method from Adyen's components.
//
// Adyen can't look up a payment. Its response to a capture, a cancellation or a refund only acknowledges the request.
// The webhooks CAPTURE, CANCELLATION and REFUND report the result.
package adyen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

const (
	// testBase is Adyen's test address. The live address has a company prefix, so it must be configured
	// (https://docs.adyen.com/development-resources/live-endpoints).
	testBase = "https://checkout-test.adyen.com"
	version  = "/v72"
	// keyLife is Adyen's "minimum period of 7 days" minus one hour
	// (https://docs.adyen.com/development-resources/api-idempotency).
	keyLife = 7*24*time.Hour - time.Hour
)

// Client is one merchant account at Adyen. It implements gateway.Provider.
type Client struct {
	kit.TakesAtOnce

	base, key, merchant string
	// captures is set if an authorization captures the money.
	captures bool
	http     *http.Client
}

// Account is a merchant account.
type Account struct {
	// Base replaces Adyen's test address, up to the version.
	Base string
	// Key is the API key. Merchant is the name of the merchant account.
	Key, Merchant string
	// Capture is "automatic" if Adyen captures payments at once; otherwise they wait for a capture. It must match the
	// account's webhooks, because an AUTHORISATION does not contain the capture mode. So each account has only one mode.
	Capture string
}

// New returns the client of a merchant account.
func New(a Account, client *http.Client) *Client {
	return &Client{
		base: strings.TrimRight(cmp.Or(a.Base, testBase), "/") + version, key: a.Key, merchant: a.Merchant,
		captures: a.Capture == "automatic", http: client,
	}
}

// Capabilities implements gateway.Provider. https://docs.adyen.com/online-payments/capture describes full and partial
// captures, …/cancel cancellations, and …/refund any number of partial refunds. "By default, any unclaimed amount after a
// partial capture gets cancelled. This does not apply if you enabled multiple partial captures on your account and the
// payment method supports multiple partial captures"
// (https://docs.adyen.com/api-explorer/Checkout/72/post/payments/_paymentPspReference_/captures).
func (c *Client) Capabilities() payment.Capabilities {
	can := payment.Capabilities{
		KeyLife: keyLife, Lookup: payment.LookupNone, Identity: payment.IdentityOwn, Complete: true,
		Cancels: payment.CancelsByReference, Refunds: payment.RefundsParts,
	}
	if !c.captures {
		can.Captures = payment.CapturesOpen
	}
	return can
}

// refusal is a definitive error of Adyen
// (https://docs.adyen.com/development-resources/error-codes).
type refusal struct {
	Status int    `json:"-"`
	Code   string `json:"errorCode"`
	Type   string `json:"errorType"`
}

// post sends a command. want is the status of a success.
func (c *Client) post(ctx context.Context, path, key string, l gateway.Permit, body any, want int, out any) (*refusal, error) {
	a, err := kit.DoJSON(ctx, c.http, kit.Request{
		Method: http.MethodPost, URL: c.base + path, Permit: &l, Header: http.Header{"X-Api-Key": {c.key}, "Idempotency-Key": {key}},
	}, body)
	switch {
	case err != nil:
		return nil, err
	case a.Status >= http.StatusBadRequest:
		return readRefusal(a)
	case a.Status != want:
		return nil, fmt.Errorf("unexpected response of Adyen with status %d", a.Status)
	}
	return nil, a.Read(out)
}

// readRefusal returns a definitive error as a refusal, and any other error as an error. A response that is not in
// Adyen's format may come from a proxy, so it is not a refusal.
func readRefusal(a kit.Answer) (*refusal, error) {
	var said refusal
	if err := a.Read(&said); err != nil || said.Code == "" {
		return nil, fmt.Errorf("the response with status %d is not in Adyen's format", a.Status)
	}
	said.Status = a.Status
	if !definitive(said, a.Header) {
		return nil, said.err()
	}
	return &said, nil
}

// codeUnavailable and codeInProgress concern another call with the same key, or are transient
// (https://docs.adyen.com/development-resources/api-idempotency): "required resource temporarily unavailable" and
// "request already processed or in progress".
const (
	codeUnavailable = "703"
	codeInProgress  = "704"
	// codeNoPayment is "Original pspReference required for this operation"
	// (https://docs.adyen.com/development-resources/error-codes).
	codeNoPayment = "167"
)

// definitive reports whether the error refuses this request. Adyen marks retryable errors with the header
// transient-error.
func definitive(r refusal, h http.Header) bool {
	switch r.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity:
		return h.Get("Transient-Error") != "true" && r.Code != codeUnavailable && r.Code != codeInProgress
	}
	return false
}

// turnedAway reports whether Adyen rejected the API key or its permissions. An earlier call may have succeeded.
func (r refusal) turnedAway() bool {
	return r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden
}

func (r refusal) err() error {
	return fmt.Errorf("adyen responded with %d %s %s", r.Status, r.Type, r.Code)
}

var errNameless = errors.New("the answer names no payment")
