// Package checkout calls Checkout.com's API (https://api-reference.checkout.com). One call with a token creates a
// payment. Actions capture, void and refund it. Checkout.com accepts an action first and carries it out later, so the
// adapter looks the payment up after each action.
package checkout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

const (
	liveBase    = "https://api.checkout.com"
	sandboxBase = "https://api.sandbox.checkout.com"
	// sandboxKey is the prefix of the sandbox's secret keys
	// (https://www.checkout.com/docs/developer-resources/api/manage-api-keys).
	sandboxKey = "sk_sbox_"
	// findLag is our estimate. The page of the list, a beta, documents no delay
	// (https://www.checkout.com/docs/payments/manage-payments/get-a-list-of-payments).
	findLag = time.Minute
)

// Client is one account at Checkout.com. It implements gateway.Provider.
type Client struct {
	kit.OneStep

	// Channel is the processing channel of the payments; empty for the account's default channel
	// (https://api-reference.checkout.com/#operation/requestAPaymentOrPayout).
	Channel string
	// Now is the clock for the end of payment sessions. If it is nil, a session has Checkout.com's own end, which is not
	// documented, and a cancel never ends the wait for it.
	Now func() time.Time

	api *kit.API[*refusal]
}

// New returns the client of the account that owns the secret key. The key selects the live or the sandbox address, and
// the base replaces either.
func New(base, key string, client *http.Client) *Client {
	own := liveBase
	if strings.HasPrefix(key, sandboxKey) {
		own = sandboxBase
	}
	return &Client{api: &kit.API[*refusal]{
		Name: "Checkout.com", Base: strings.TrimRight(cmp.Or(base, own), "/"), HTTP: client,
		Done:   []int{http.StatusOK, http.StatusCreated, http.StatusAccepted},
		Header: func() http.Header { return http.Header{"Authorization": {"Bearer " + key}} }, Read: readRefusal,
	}}
}

// Capabilities implements gateway.Provider. https://www.checkout.com/docs/payments/manage-payments describes full and
// partial captures, several of them with American Express, Mastercard and Visa, voids of what is not captured, any number of partial refunds, and a list by reference. Checkout.com
// accepts a refund first, and does not document how soon the refund is among the payment's actions.
//
// The adapter declares no keys: "if the original request returns a 4xx or 5xx response code, no idempotent result is
// saved and the payment is reattempted" (https://www.checkout.com/docs/payments/manage-payments/idempotency). A resend
// of a charge that succeeded with a 502 would create a second payment. So a charge is sent again only after the list did
// not contain its payment, and only once.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		Resend: payment.ResendUnfound, Lookup: payment.LookupByReference, FindLag: findLag, Identity: payment.IdentityOwn,
		Captures: payment.CapturesSeveral, Cancels: payment.CancelsByID,
		Refunds: payment.RefundsParts, RefundLookup: payment.RefundLookupInPayment, Shows: payment.ShowsDisputes,
	}
}

// refusal is a definitive error of Checkout.com. Some responses have no body, and Codes is then empty.
type refusal struct {
	Status int      `json:"-"`
	Type   string   `json:"error_type"`
	Codes  []string `json:"error_codes"`
}

// ask sends a read and accepts any response.
func (c *Client) ask(ctx context.Context, path string) (kit.Answer, error) {
	return kit.Do(ctx, c.api.HTTP, kit.Request{Method: http.MethodGet, URL: c.api.Base + path, Header: c.api.Header()})
}

func keyed(key string) http.Header { return http.Header{"Cko-Idempotency-Key": {key}} }

// readRefusal accepts the format of Checkout.com's errors. It accepts an empty body only with the request id that all
// responses of Checkout.com have. Any other response may come from a proxy, so it is not a refusal.
//
// 409 and 429 concern another call with the same key, or are transient like 5xx
// (https://www.checkout.com/docs/developer-resources/codes/http-status-codes).
func readRefusal(a kit.Answer) (*refusal, error) {
	switch a.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity:
	default:
		return nil, fmt.Errorf("checkout.com responded with %d", a.Status)
	}
	said := refusal{Status: a.Status}
	empty := len(a.Body) == 0 && a.Header.Get("Cko-Request-Id") != ""
	if err := a.Read(&said); !empty && (err != nil || said.Type == "") {
		return nil, fmt.Errorf("the response with status %d is not in Checkout.com's format", a.Status)
	}
	return &said, nil
}

// code returns the first error code, or the type, or the name of the HTTP status.
func (r *refusal) code() string {
	if len(r.Codes) > 0 {
		return r.Codes[0]
	}
	return cmp.Or(r.Type, strings.ReplaceAll(strings.ToLower(http.StatusText(r.Status)), " ", "_"))
}

// charge returns the outcome of a refused charge.
func (r *refusal) charge() gateway.Outcome {
	return gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", r.code())}
}

// Error implements error.
func (r *refusal) Error() string {
	return fmt.Sprintf("checkout.com responded with %d %s", r.Status, r.code())
}

// Missing implements kit.Refusal.
func (r *refusal) Missing() bool { return r.Status == http.StatusNotFound }

var errNameless = errors.New("the answer names no object")
