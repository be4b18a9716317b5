// Package square speaks with Square's Payments API
// (https://developer.squareup.com/reference/square/payments-api): a payment is
// made in one call with a token, and its answer says what became of it.
package square

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
	liveBase = "https://connect.squareup.com"
	version  = "2025-08-20"
	// keyLife is ours: Square presents its keys as what makes a retry after a lost
	// connection safe, but publishes no time for which it keeps them
	// (https://developer.squareup.com/docs/build-basics/common-api-patterns/idempotency).
	keyLife = time.Hour
)

// Client is one seller's account at Square. It implements payment.Provider.
type Client struct {
	base, token string
	http        *http.Client
}

// New returns the client of the seller that an access token belongs to; base
// replaces Square's own address, which is that of real money: a token does not
// say whether it is one of the sandbox.
func New(base, token string, client *http.Client) *Client {
	return &Client{base: strings.TrimRight(cmp.Or(base, liveBase), "/"), token: token, http: client}
}

// Capabilities implements payment.Provider:
// https://developer.squareup.com/docs/payments-api/take-payments/card-payments/delayed-capture
// (complete or cancel what is approved; a part, by lowering the amount first),
// …/refund-payments (any number of parts). No call finds a payment by our
// reference. That a payment names a new refund at once is not documented; the list of
// all refunds may not show it for "several seconds"
// (https://developer.squareup.com/reference/square/refunds-api/list-payment-refunds).
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: keyLife,
		Capture: true, PartialCapture: true, Cancel: true, Refund: true, PartialRefund: true, LookupRefund: true,
		OneID: true,
	}
}

// answer is the form of all that Square says.
type answer struct {
	Payment *paid    `json:"payment"`
	Refund  *refund  `json:"refund"`
	Errors  []apiErr `json:"errors"`
	Card    *card    `json:"card"`
}

// apiErr is an error of Square's
// (https://developer.squareup.com/docs/build-basics/handling-errors).
type apiErr struct {
	Category string `json:"category"`
	Code     string `json:"code"`
}

// refusal is Square's definitive no.
type refusal struct {
	apiErr
	status int
	// payment is the one that was made and failed, if there is one.
	payment *paid
}

// command sends a command, by POST or PUT.
func (c *Client) command(ctx context.Context, method, path string, l payment.Licence, body any) (answer, *refusal, error) {
	r := call.Request{Method: method, URL: c.base + path, Header: c.header(), Licence: &l}
	a, err := call.DoJSON(ctx, c.http, r, body)
	if err != nil {
		return answer{}, nil, err
	}
	return read(a)
}

// get asks a question; one that a command begins with has the command's licence.
func (c *Client) get(ctx context.Context, path string, l *payment.Licence) (answer, error) {
	a, err := call.Do(ctx, c.http, call.Request{Method: http.MethodGet, URL: c.base + path, Header: c.header(), Licence: l})
	if err != nil {
		return answer{}, err
	}
	got, refused, err := read(a)
	switch {
	case refused == nil:
		return got, err
	case refused.missing():
		return answer{}, payment.ErrNoSuchPayment
	}
	return answer{}, refused.err()
}

func (c *Client) header() http.Header {
	return http.Header{"Authorization": {"Bearer " + c.token}, "Square-Version": {version}}
}

// read returns what is definitive as a refusal. An answer that is not in Square's
// form may be a proxy's: it says nothing.
func read(a call.Answer) (answer, *refusal, error) {
	var got answer
	if err := a.Read(&got); err != nil {
		return answer{}, nil, fmt.Errorf("somebody answers %d for Square: %w", a.Status, err)
	}
	switch {
	case a.Status == http.StatusOK && len(got.Errors) == 0:
		return got, nil, nil
	case a.Status < http.StatusBadRequest || len(got.Errors) == 0:
		return answer{}, nil, fmt.Errorf("not an answer of Square's: %d", a.Status)
	}
	refused := refusal{got.Errors[0], a.Status, got.Payment}
	if !refused.definitive() {
		return answer{}, nil, refused.err()
	}
	return got, &refused, nil
}

// codeReused speaks of another call with the same key.
const codeReused = "IDEMPOTENCY_KEY_REUSED"

// definitive reports whether an error is about the request as such. 409 and 429
// speak of another call or of the moment, and so do Square's own errors whatever
// their status.
func (r refusal) definitive() bool {
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

// momentary are codes of what may be otherwise in a moment.
var momentary = map[string]bool{ //nolint:gochecknoglobals // a table
	"TEMPORARY_ERROR": true, "INTERNAL_SERVER_ERROR": true, "GATEWAY_TIMEOUT": true, "REQUEST_TIMEOUT": true, "CONFLICT": true,
	"RATE_LIMITED": true, "BAD_GATEWAY": true, "SERVICE_UNAVAILABLE": true,
}

// missing reports whether Square says that it has no such object.
func (r refusal) missing() bool { return r.status == http.StatusNotFound && r.Code == "NOT_FOUND" }

// turnedAway reports whether Square does not take the access token. Of an earlier
// call that may have gone through it says nothing.
func (r refusal) turnedAway() bool { return r.Category == "AUTHENTICATION_ERROR" }

func (r refusal) err() error { return fmt.Errorf("square says %d %s %s", r.status, r.Category, r.Code) }

var errNameless = errors.New("the answer names no object")
