// Package razorpay calls Razorpay's API (https://razorpay.com/docs/api/). A payment is a payment link or an order. The
// customer pays a link on Razorpay's page. Razorpay's script pays an order on the shop's page, and the order has a
// second step.
//
// Razorpay can't cancel an order. A script that is still open can pay the order later; that money is late money.
package razorpay

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Client is one account at Razorpay. It implements gateway.Provider.
type Client struct {
	id, secret string
	api        *kit.API[*refusal]
}

// address is the API's address. The key selects test or live mode.
const address = "https://api.razorpay.com"

// New returns the client of the account that owns the key. The base replaces Razorpay's own address.
func New(base, id, secret string, client *http.Client) *Client {
	c := &Client{id: id, secret: secret}
	// "All successful Razorpay API responses return with HTTP Status code 200" (https://razorpay.com/docs/errors/).
	c.api = &kit.API[*refusal]{
		Name: "Razorpay", Base: strings.TrimRight(cmp.Or(base, address), "/") + "/v1", HTTP: client, Header: c.header, Read: readRefusal,
	}
	return c
}

// keyLife is the life of a link's reference_id, which "must be a unique number for each Payment Link". Razorpay refuses
// a second link with it as long as the first link exists, which is at least six months
// (https://razorpay.com/docs/api/payments/payment-links/create-standard/).
const keyLife = 180 * 24 * time.Hour

// Capabilities implements gateway.Provider. Links are found by reference_id and can be cancelled until they are paid
// (https://razorpay.com/docs/api/payments/payment-links/). A payment can have any number of partial refunds
// (https://razorpay.com/docs/api/refunds/). Razorpay captures a link's payment itself: its capture settings are for
// orders only (https://razorpay.com/docs/payments/payments/capture-settings/). Razorpay does not document that a list
// shows a new link or a new refund at once.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: keyLife, Lookup: payment.LookupByReference, Identity: payment.IdentityOwn, Complete: true,
		CapturesSeen: true, Cancels: payment.CancelsByID,
		Refunds: payment.RefundsParts, RefundLookup: payment.RefundLookupInPayment, Shows: payment.ShowsRefunds,
	}
}

func (c *Client) header() http.Header {
	as := http.Request{Header: http.Header{}}
	as.SetBasicAuth(c.id, c.secret)
	return as.Header
}

func linkPath(id string) string { return "/payment_links/" + url.PathEscape(id) }

func orderPath(id string) string { return "/orders/" + url.PathEscape(id) }

func paymentPath(id string) string { return "/payments/" + url.PathEscape(id) }

// refusal is Razorpay's error object (https://razorpay.com/docs/errors/#error-structure). Most refusals have the same
// code and different descriptions. The description may quote the request, so it is not passed on.
type refusal struct {
	status      int
	Code        string `json:"code"`
	Reason      string `json:"reason"`
	Field       string `json:"field"`
	Description string `json:"description"`
}

// code returns the most specific code.
func (r *refusal) code() string {
	if r.Reason != "" && r.Reason != "NA" {
		return r.Reason
	}
	return r.Code
}

// Error implements error.
func (r *refusal) Error() string {
	return fmt.Sprintf("razorpay responded with %d %s %s", r.status, r.code(), r.Field)
}

// readRefusal returns a definitive error as a refusal, and any other error as an error. A response that is not in
// Razorpay's format may come from a proxy, so it is not a refusal.
func readRefusal(a kit.Answer) (*refusal, error) {
	var said struct {
		Error refusal `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &said); err != nil || said.Error.Code == "" {
		return nil, fmt.Errorf("the response with status %d is not in Razorpay's format", a.Status)
	}
	said.Error.status = a.Status
	if !said.Error.definitive() {
		return nil, &said.Error
	}
	return &said.Error, nil
}

// definitive reports whether the error refuses this request. Errors about an idempotency key and status 409 concern
// another request with the same key. GATEWAY_ERROR, SERVER_ERROR, 429 and 5xx are transient.
func (r *refusal) definitive() bool {
	switch r.status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return r.Code == "BAD_REQUEST_ERROR" && !r.speaksOf("idempotency key")
	}
	return false
}

// Missing implements kit.Refusal.
func (r *refusal) Missing() bool { return r.speaksOf("id provided does not exist") }

// turnedAway reports whether Razorpay rejected the API key or its permissions. An earlier call may have succeeded. The
// documentation shows both 400 and 401 for a rejected key.
func (r *refusal) turnedAway() bool {
	return r.status == http.StatusUnauthorized || r.status == http.StatusForbidden ||
		r.speaksOf("authentication failed") || r.speaksOf("api key") || r.speaksOf("key/secret")
}

func (r *refusal) speaksOf(words string) bool {
	return strings.Contains(strings.ToLower(r.Description), words)
}

var errNameless = errors.New("the answer names no object")
