// Package checkout calls Checkout.com's API (https://api-reference.checkout.com): a
// payment is made in one call with a token, and captured, voided and refunded by
// actions that are accepted first and carried out later. After each of them the payment
// is looked up.
package checkout

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
	"github.com/paylatch/paylatch/internal/provider/httpjson"
)

const (
	liveBase    = "https://api.checkout.com"
	sandboxBase = "https://api.sandbox.checkout.com"
	// sandboxKey is the prefix of the sandbox's secret keys
	// (https://www.checkout.com/docs/developer-resources/api/manage-api-keys).
	sandboxKey = "sk_sbox_"
	// findLag is ours: the page of the list, a beta, documents no delay
	// (https://www.checkout.com/docs/payments/manage-payments/get-a-list-of-payments).
	findLag = time.Minute
)

// Client is one account at Checkout.com. It implements gateway.Provider.
type Client struct {
	call.OneStep

	// Channel is the processing channel of the payments; empty for the account's default one
	// (https://api-reference.checkout.com/#operation/requestAPaymentOrPayout).
	Channel string

	api *httpjson.API[*refusal]
}

// New returns the client of the account of a secret key; base replaces Checkout.com's
// own address, which for a key of the sandbox is the sandbox's.
func New(base, key string, client *http.Client) *Client {
	own := liveBase
	if strings.HasPrefix(key, sandboxKey) {
		own = sandboxBase
	}
	return &Client{api: &httpjson.API[*refusal]{
		Name: "Checkout.com", Base: strings.TrimRight(cmp.Or(base, own), "/"), HTTP: client,
		Done:   []int{http.StatusOK, http.StatusCreated, http.StatusAccepted},
		Header: func() http.Header { return http.Header{"Authorization": {"Bearer " + key}} }, Read: readRefusal,
	}}
}

// Capabilities implements gateway.Provider:
// https://www.checkout.com/docs/payments/manage-payments (capture all or a part,
// void before the capture, refund in any number of parts, list by reference). A refund
// is accepted first, and how soon it is among the payment's actions is not documented.
//
// It declares no keys: "if the original request returns a 4xx or 5xx response code, no
// idempotent result is saved and the payment is reattempted"
// (https://www.checkout.com/docs/payments/manage-payments/idempotency). A charge that
// succeeded with a 502 would be made a second time: so it is sent again only once its
// payment was not found in the list, and once.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: 0, Find: true, FindLag: findLag, FindConsistent: false, FindFirst: true,
		Capture: true, PartialCapture: true, CaptureUnseen: true, Cancel: true, Refund: true, PartialRefund: true, LookupRefund: true,
		ShowsRefunds: true, ShowsDisputes: true,
	}
}

// refusal is a definitive error of Checkout.com. Some responses have no body: then
// Codes is empty.
type refusal struct {
	Status int      `json:"-"`
	Type   string   `json:"error_type"`
	Codes  []string `json:"error_codes"`
}

// ask sends a read of which any response is an answer.
func (c *Client) ask(ctx context.Context, path string) (call.Answer, error) {
	return call.Do(ctx, c.api.HTTP, call.Request{Method: http.MethodGet, URL: c.api.Base + path, Header: c.api.Header()})
}

func keyed(key string) http.Header { return http.Header{"Cko-Idempotency-Key": {key}} }

// readRefusal accepts the format of Checkout.com's errors, and an empty body only with
// the request id that all its responses have. Any other response may come from a proxy:
// it refuses nothing.
//
// 409 and 429 are about another call with the same key, or transient, as 5xx are
// (https://www.checkout.com/docs/developer-resources/codes/http-status-codes).
func readRefusal(a call.Answer) (*refusal, error) {
	switch a.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity:
	default:
		return nil, fmt.Errorf("checkout.com answers %d", a.Status)
	}
	said := refusal{Status: a.Status}
	empty := len(a.Body) == 0 && a.Header.Get("Cko-Request-Id") != ""
	if err := a.Read(&said); !empty && (err != nil || said.Type == "") {
		return nil, fmt.Errorf("somebody answers %d for Checkout.com", a.Status)
	}
	return &said, nil
}

// code returns the first error code, else the type or the status text.
func (r *refusal) code() string {
	if len(r.Codes) > 0 {
		return r.Codes[0]
	}
	return cmp.Or(r.Type, strings.ReplaceAll(strings.ToLower(http.StatusText(r.Status)), " ", "_"))
}

// Error implements error.
func (r *refusal) Error() string { return fmt.Sprintf("checkout.com says %d %s", r.Status, r.code()) }

// Missing implements httpjson.Refusal.
func (r *refusal) Missing() bool { return r.Status == http.StatusNotFound }

var errNameless = errors.New("the answer names no object")
