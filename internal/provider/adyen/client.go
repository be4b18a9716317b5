// Package adyen speaks with Adyen's Checkout API
// (https://docs.adyen.com/api-explorer/Checkout/72/overview): a payment is made
// in one call with a stored payment method, or one that Adyen's components make.
//
// Adyen can't be asked how a payment stands. What it answers to a capture, a
// cancellation or a refund is only that it has received it; what came of it is
// told by the webhooks CAPTURE, CANCELLATION and REFUND.
package adyen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

const (
	// testBase is Adyen's address for tests. The live one has a prefix of the
	// company's own, so that it must be configured
	// (https://docs.adyen.com/development-resources/live-endpoints).
	testBase = "https://checkout-test.adyen.com"
	version  = "/v72"
	// keyLife is Adyen's "minimum period of 7 days" less an hour
	// (https://docs.adyen.com/development-resources/api-idempotency).
	keyLife = 7*24*time.Hour - time.Hour
)

// Client is one merchant account at Adyen. It implements payment.Provider.
type Client struct {
	base, key, merchant string
	// captures says that an authorisation takes the money.
	captures bool
	http     *http.Client
}

// Account is a merchant account.
type Account struct {
	// Base replaces Adyen's address for tests, up to the version.
	Base string
	// Key is the API key, Merchant the merchant account's name.
	Key, Merchant string
	// Capture is "automatic" if payments are captured at once; else they wait for
	// a capture. It must be what the account's webhooks are told, because an
	// AUTHORISATION does not say which of the two it is: so that each account
	// charges in one way only.
	Capture string
}

// New returns the client of a merchant account.
func New(a Account, client *http.Client) *Client {
	return &Client{
		base: strings.TrimRight(cmp.Or(a.Base, testBase), "/") + version, key: a.Key, merchant: a.Merchant,
		captures: a.Capture == "automatic", http: client,
	}
}

// Capabilities implements payment.Provider:
// https://docs.adyen.com/online-payments/capture (all or a part, once by
// default), …/cancel, …/refund (any number of parts).
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: keyLife, Blind: true,
		Capture: !c.captures, PartialCapture: !c.captures, Cancel: true, Refund: true, PartialRefund: true,
	}
}

// refusal is Adyen's definitive no
// (https://docs.adyen.com/development-resources/error-codes).
type refusal struct {
	Status int    `json:"-"`
	Code   string `json:"errorCode"`
	Type   string `json:"errorType"`
}

// post sends a command, which is answered with status want.
func (c *Client) post(ctx context.Context, path, key string, l payment.Licence, body any, want int, out any) (*refusal, error) {
	a, err := call.DoJSON(ctx, c.http, call.Request{
		Method: http.MethodPost, URL: c.base + path, Licence: &l, Header: http.Header{"X-Api-Key": {c.key}, "Idempotency-Key": {key}},
	}, body)
	switch {
	case err != nil:
		return nil, err
	case a.Status >= http.StatusBadRequest:
		return readRefusal(a)
	case a.Status != want:
		return nil, fmt.Errorf("not an answer of Adyen's: %d", a.Status)
	}
	return nil, a.Read(out)
}

// readRefusal returns what is definitive as a refusal, and the rest as an error.
// An answer that is not in Adyen's form may be a proxy's: it refuses nothing.
func readRefusal(a call.Answer) (*refusal, error) {
	var said refusal
	if err := a.Read(&said); err != nil || said.Code == "" {
		return nil, fmt.Errorf("somebody answers %d for Adyen", a.Status)
	}
	said.Status = a.Status
	if !definitive(said, a.Header) {
		return nil, said.err()
	}
	return &said, nil
}

// Error codes that speak of another call with the same key, or of the moment
// (https://docs.adyen.com/development-resources/api-idempotency): "required
// resource temporarily unavailable" and "request already processed or in
// progress".
const (
	codeUnavailable = "703"
	codeInProgress  = "704"
	// codeNoPayment is "Original pspReference required for this operation"
	// (https://docs.adyen.com/development-resources/error-codes).
	codeNoPayment = "167"
)

// definitive reports whether an error is about the request as such. Adyen marks
// those that are worth another try by the header transient-error.
func definitive(r refusal, h http.Header) bool {
	switch r.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity:
		return h.Get("Transient-Error") != "true" && r.Code != codeUnavailable && r.Code != codeInProgress
	}
	return false
}

// turnedAway reports whether Adyen does not take the API key, or not for this.
// Of an earlier call that may have gone through it says nothing.
func (r refusal) turnedAway() bool {
	return r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden
}

func (r refusal) err() error { return fmt.Errorf("adyen says %d %s %s", r.Status, r.Type, r.Code) }

var errNameless = errors.New("the answer names no payment")
