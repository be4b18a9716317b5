// Package square calls Square's Payments API (https://developer.squareup.com/reference/square/payments-api). One call
// with a token creates a payment, and the response contains its result. No payment has a second step, because the
// browser verifies the buyer before the charge.
package square

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
	liveBase = "https://connect.squareup.com"
	version  = "2025-08-20"
	// keyLife is our estimate. Square documents that its keys make a retry after a lost connection safe, but not how
	// long it stores them (https://developer.squareup.com/docs/build-basics/common-api-patterns/idempotency).
	keyLife = time.Hour
)

// Client is one seller's account at Square. It implements gateway.Provider.
type Client struct {
	kit.OneStep
	kit.TakesAtOnce

	// Location is the location of the payments; empty for the seller's main location
	// (https://developer.squareup.com/reference/square/payments-api/create-payment).
	Location string

	base, token string
	http        *http.Client
}

// New returns the client of the seller who owns the access token. The base replaces Square's live address. A token does
// not show whether it belongs to the sandbox.
func New(base, token string, client *http.Client) *Client {
	return &Client{base: strings.TrimRight(cmp.Or(base, liveBase), "/"), token: token, http: client}
}

// Capabilities implements gateway.Provider.
// https://developer.squareup.com/docs/payments-api/take-payments/card-payments/delayed-capture describes completing or
// cancelling an approved payment, and a partial capture by lowering the amount first. …/refund-payments describes any
// number of partial refunds. The list of payments contains a new payment after "several seconds". Square does not
// document that a payment names a new refund at once. The list of all refunds may lack it for "several seconds"
// (https://developer.squareup.com/reference/square/refunds-api/list-payment-refunds).
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: keyLife, Lookup: payment.LookupByReference, FindLag: findLag, Identity: payment.IdentityOwn,
		Captures: payment.CapturesOnce, CapturesSeen: true, Cancels: payment.CancelsByReference,
		Refunds: payment.RefundsParts, RefundLookup: payment.RefundLookupInPayment, Shows: payment.ShowsRefunds,
	}
}

// answer is the format of Square's responses.
type answer struct {
	Payment *paid    `json:"payment"`
	Refund  *refund  `json:"refund"`
	Errors  []apiErr `json:"errors"`
	Card    *card    `json:"card"`
	Order   *order   `json:"order"`
}

// apiErr is an error of Square
// (https://developer.squareup.com/docs/build-basics/handling-errors).
type apiErr struct {
	Category string `json:"category"`
	Code     string `json:"code"`
}

// refusal is a definitive error of Square.
type refusal struct {
	apiErr
	status int
	// payment is the failed payment, if Square created one.
	payment *paid
}

// command sends a command, by POST or PUT.
func (c *Client) command(ctx context.Context, method, path string, l gateway.Permit, body any) (answer, *refusal, error) {
	r := kit.Request{Method: method, URL: c.base + path, Header: c.header(), Permit: &l}
	a, err := kit.DoJSON(ctx, c.http, r, body)
	if err != nil {
		return answer{}, nil, err
	}
	return read(a)
}

// get sends a read. The first read of a command carries the command's permit.
func (c *Client) get(ctx context.Context, path string, l *gateway.Permit) (answer, error) {
	a, err := kit.Do(ctx, c.http, kit.Request{Method: http.MethodGet, URL: c.base + path, Header: c.header(), Permit: l})
	if err != nil {
		return answer{}, err
	}
	got, refused, err := read(a)
	switch {
	case refused == nil:
		return got, err
	case refused.missing():
		return answer{}, gateway.ErrNoSuchPayment
	}
	return answer{}, refused.err()
}

// seller returns the id of the token's seller (https://developer.squareup.com/reference/square/merchants-api/retrieve-merchant).
func (c *Client) seller(ctx context.Context) (string, error) {
	return kit.FetchMerchant(ctx, c.http, c.base+"/v2/merchants/me", c.header(), "merchant", "id")
}

func (c *Client) header() http.Header {
	return http.Header{"Authorization": {"Bearer " + c.token}, "Square-Version": {version}}
}

// read returns a definitive error as a refusal. A response that is not in Square's format may come from a proxy, so it
// is an error.
func read(a kit.Answer) (answer, *refusal, error) {
	var got answer
	if err := a.Read(&got); err != nil {
		return answer{}, nil, fmt.Errorf("the response with status %d is not in Square's format: %w", a.Status, err)
	}
	switch {
	case a.Status == http.StatusOK && len(got.Errors) == 0:
		return got, nil, nil
	case a.Status < http.StatusBadRequest || len(got.Errors) == 0:
		return answer{}, nil, fmt.Errorf("unexpected response of Square with status %d", a.Status)
	}
	refused := refusal{got.Errors[0], a.Status, got.Payment}
	if !refused.definitive() {
		return answer{}, nil, refused.err()
	}
	return got, &refused, nil
}

// codeReused is an error about another call with the same key.
const codeReused = "IDEMPOTENCY_KEY_REUSED"

// definitive reports whether the error refuses this request. 409 and 429 concern another call or are transient. Square's
// internal errors are transient as well, regardless of their status.
func (r *refusal) definitive() bool {
	switch r.status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity:
	default:
		return false
	}
	switch r.Category {
	case "INVALID_REQUEST_ERROR", "AUTHENTICATION_ERROR", "PAYMENT_METHOD_ERROR", "REFUND_ERROR", "MERCHANT_SUBSCRIPTION_ERROR":
		return r.Code != codeReused && !momentary[r.Code]
	}
	return false
}

// momentary are the codes of transient errors.
var momentary = map[string]bool{ //nolint:gochecknoglobals // a table
	"TEMPORARY_ERROR": true, "INTERNAL_SERVER_ERROR": true, "GATEWAY_TIMEOUT": true, "REQUEST_TIMEOUT": true, "CONFLICT": true,
	"RATE_LIMITED": true, "BAD_GATEWAY": true, "SERVICE_UNAVAILABLE": true,
}

// missing reports whether Square has no such object.
func (r *refusal) missing() bool {
	return r != nil && r.status == http.StatusNotFound && r.Code == "NOT_FOUND"
}

// turnedAway reports whether Square rejected the access token. An earlier call may have succeeded.
func (r *refusal) turnedAway() bool { return r.Category == "AUTHENTICATION_ERROR" }

func (r *refusal) err() error {
	return fmt.Errorf("square responded with %d %s %s", r.status, r.Category, r.Code)
}

var errNameless = errors.New("the answer names no object")
