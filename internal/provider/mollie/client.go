// Package mollie calls Mollie's Payments API, version 2
// (https://docs.mollie.com/reference/payments-api): a payment is a Mollie payment,
// which its customer confirms on a page of Mollie's or of the bank's.
package mollie

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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

// Client is one profile at Mollie. It implements gateway.Provider.
type Client struct {
	call.OneStep

	webhook string
	api     *httpjson.API[*refusal]
}

// address is the API's; the key selects test or live mode.
const address = "https://api.mollie.com"

// New returns the client of the profile of an API key; base replaces Mollie's own
// address. Webhook is the address that Mollie notifies of each payment; without it only
// a lookup shows its state.
func New(base, key, webhook string, client *http.Client) *Client {
	return &Client{webhook: webhook, api: &httpjson.API[*refusal]{
		Name: "Mollie", Base: strings.TrimRight(cmp.Or(base, address), "/") + "/v2", HTTP: client, Done: []int{http.StatusOK, http.StatusCreated},
		Header: func() http.Header { return http.Header{"Authorization": {"Bearer " + key}} }, Read: readRefusal,
	}}
}

// keyLife is Mollie's less ten minutes: a request is to be repeated "within 1
// hour" (https://docs.mollie.com/reference/api-idempotency).
const keyLife = 50 * time.Minute

// Capabilities implements gateway.Provider:
// https://docs.mollie.com/docs/place-a-hold-for-a-payment (capture all or a part,
// release), https://docs.mollie.com/reference/cancel-payment (an open payment, if the
// method allows it), https://docs.mollie.com/reference/create-refund (any number of
// parts). Mollie has no lookup by our reference. A refund that is not in its payment's
// list minutes later was not made, or is cancelled (settled).
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: keyLife,
		Capture: true, PartialCapture: true, Cancel: true, Refund: true, PartialRefund: true, LookupRefund: true,
		RefundsConsistent: true, ShowsRefunds: true, ShowsDisputes: true,
	}
}

// command sends a command. A bare acknowledgement, for a nil out, is 202.
func (c *Client) command(ctx context.Context, method, path, key string, l gateway.Permit, body, out any) (*refusal, error) {
	as := *c.api
	if out == nil {
		as.Done = []int{http.StatusAccepted}
	}
	return as.Do(ctx, call.Request{Method: method, URL: path, Permit: &l, Header: http.Header{"Idempotency-Key": {key}}}, body, out)
}

func paymentPath(id string) string { return "/payments/" + url.PathEscape(id) }

// refusal is Mollie's error object (https://docs.mollie.com/reference/error-handling).
// It has no codes; its detail is left out, as it may quote the request.
type refusal struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Field  string `json:"field"`
}

// code returns the most specific part but the detail: the field that is wrong.
func (r *refusal) code() string { return cmp.Or(r.Field, r.Title) }

// Error implements error.
func (r *refusal) Error() string {
	return fmt.Sprintf("mollie says %d %s %s", r.Status, r.Title, r.Field)
}

// readRefusal returns a definitive error as a refusal, and any other as an error. A
// response that is not in Mollie's format may come from a proxy: it refuses nothing.
func readRefusal(a call.Answer) (*refusal, error) {
	var said refusal
	if err := json.Unmarshal(a.Body, &said); err != nil || said.Status != a.Status || said.Title == "" {
		return nil, fmt.Errorf("somebody answers %d for Mollie", a.Status)
	}
	if !said.definitive() {
		return nil, &said
	}
	return &said, nil
}

// definitive reports whether an error is about the request as such. 409 is about
// another, equal one (see duplicate), 429 and 5xx are transient.
func (r *refusal) definitive() bool {
	switch r.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// Missing implements httpjson.Refusal.
func (r *refusal) Missing() bool { return r.Status == http.StatusNotFound }

var errNameless = errors.New("the answer names no object")
