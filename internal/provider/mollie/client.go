// Package mollie calls Mollie's Payments API, version 2. See https://docs.mollie.com/reference/payments-api. A payment
// is a Mollie payment. Its customer confirms it on a page of Mollie or of the bank.
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
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Client is one profile at Mollie. It implements gateway.Provider.
type Client struct {
	kit.OneStep

	webhook string
	api     *kit.API[*refusal]
}

// address is the API's address. The key selects test or live mode.
const address = "https://api.mollie.com"

// New returns the client of the profile that owns the API key. The base replaces Mollie's own address. The webhook is
// the address that Mollie notifies of each payment. Without it, only a lookup shows a payment's state.
func New(base, key, webhook string, client *http.Client) *Client {
	return &Client{webhook: webhook, api: &kit.API[*refusal]{
		Name: "Mollie", Base: strings.TrimRight(cmp.Or(base, address), "/") + "/v2", HTTP: client, Done: []int{http.StatusOK, http.StatusCreated},
		Header: func() http.Header { return http.Header{"Authorization": {"Bearer " + key}} }, Read: readRefusal,
	}}
}

// keyLife is Mollie's key life minus ten minutes: a request is to be repeated "within 1 hour"
// (https://docs.mollie.com/reference/api-idempotency).
const keyLife = 50 * time.Minute

// Capabilities implements gateway.Provider. https://docs.mollie.com/docs/place-a-hold-for-a-payment describes full and
// partial captures and releases. https://docs.mollie.com/reference/cancel-payment describes the cancel of an open
// payment, if the method allows it. https://docs.mollie.com/reference/create-refund describes any number of partial
// refunds. Mollie has no lookup by our reference. If a refund is not in its payment's list after some minutes (settled),
// it was not created or was cancelled.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: keyLife, Lookup: payment.LookupByID, Identity: payment.IdentityOwn,
		Captures: payment.CapturesOnce, CapturesSeen: true, Cancels: payment.CancelsByID,
		Refunds: payment.RefundsParts, RefundLookup: payment.RefundLookupInPayment, RefundsConsistent: true, Shows: payment.ShowsDisputes,
	}
}

// command sends a command. If out is nil, the response is an acknowledgement with status 202.
func (c *Client) command(ctx context.Context, method, path, key string, l gateway.Permit, body, out any) (*refusal, error) {
	as := *c.api
	if out == nil {
		as.Done = []int{http.StatusAccepted}
	}
	return as.Do(ctx, kit.Request{Method: method, URL: path, Permit: &l, Header: http.Header{"Idempotency-Key": {key}}}, body, out)
}

// profile returns the id of the key's profile (https://docs.mollie.com/reference/get-current-profile).
func (c *Client) profile(ctx context.Context) (string, error) {
	return kit.FetchMerchant(ctx, c.api.HTTP, c.api.Base+"/profiles/me", c.api.Header(), "id")
}

func paymentPath(id string) string { return "/payments/" + url.PathEscape(id) }

// refusal is Mollie's error object (https://docs.mollie.com/reference/error-handling). It has no codes. It omits the
// detail, which may quote the request.
type refusal struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Field  string `json:"field"`
}

// code returns the wrong field, or the title. They are the most specific parts except the detail.
func (r *refusal) code() string { return cmp.Or(r.Field, r.Title) }

// Error implements error.
func (r *refusal) Error() string {
	return fmt.Sprintf("mollie responded with %d %s %s", r.Status, r.Title, r.Field)
}

// readRefusal returns a definitive error as a refusal, and any other error as an error. A response that is not in
// Mollie's format may come from a proxy, so it is not a refusal.
func readRefusal(a kit.Answer) (*refusal, error) {
	var said refusal
	if err := json.Unmarshal(a.Body, &said); err != nil || said.Status != a.Status || said.Title == "" {
		return nil, fmt.Errorf("the response with status %d is not in Mollie's format", a.Status)
	}
	if !said.definitive() {
		return nil, &said
	}
	return &said, nil
}

// definitive reports whether the error refuses this request. 409 concerns another, equal request (see duplicate). 429
// and 5xx are transient.
func (r *refusal) definitive() bool {
	switch r.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// Missing implements kit.Refusal.
func (r *refusal) Missing() bool { return r.Status == http.StatusNotFound }

var errNameless = errors.New("the answer names no object")
