// Package yookassa calls YooKassa's API (https://yookassa.ru/developers/api). A payment is a payment object that waits
// for its customer or is paid at once.
//
// No payment has a second step. The customer confirms it on the page, in the widget or in an app, and the confirmation
// goes directly to YooKassa.
package yookassa

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Client is one shop at YooKassa. It implements gateway.Provider.
type Client struct {
	kit.OneStep

	// TaxSystem is the shop's tax system (tag 1055 of 54-FZ) in receipts; 0: no tax system
	// (https://yookassa.ru/developers/payment-acceptance/receipts/54fz/other-services/parameters-values#tax-systems).
	TaxSystem int

	shop, key string
	api       *kit.API[*refusal]
}

// address is the API's address. The path contains the version
// (https://yookassa.ru/developers/using-api/interaction-format).
const address = "https://api.yookassa.ru"

// New returns the client of the shop with this id and secret key. The base replaces YooKassa's own address.
func New(base, shop, key string, client *http.Client) *Client {
	c := &Client{shop: shop, key: key}
	// Every success has status 200 (https://yookassa.ru/developers/using-api/response-handling/http-codes).
	c.api = &kit.API[*refusal]{
		Name: "YooKassa", Base: strings.TrimRight(cmp.Or(base, address), "/") + "/v3", HTTP: client, Header: c.header, Read: readRefusal,
	}
	return c
}

// keyLife is YooKassa's key life minus one hour: a key counts "for 24 hours after the first request, after that a
// repeated one is processed as a new one" (https://yookassa.ru/developers/using-api/interaction-format#idempotence).
const keyLife = 23 * time.Hour

// Capabilities implements gateway.Provider. https://yookassa.ru/developers/api describes "Payments" (one capture, full
// or partial; cancel only of a hold) and "Refunds" (any number of parts). A payment is found by its metadata in the list
// of payments since the attempt's creation. YooKassa does not document that the lists of payments and
// refunds never lag.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: keyLife, Lookup: payment.LookupByReference, Identity: payment.IdentityOwn,
		Captures: payment.CapturesOnce, CapturesSeen: true, Cancels: payment.CancelsByID,
		Refunds: payment.RefundsParts, RefundLookup: payment.RefundLookupInPayment, Shows: payment.ShowsRefunds,
	}
}

func (c *Client) header() http.Header {
	as := http.Request{Header: http.Header{}}
	as.SetBasicAuth(c.shop, c.key)
	return as.Header
}

func keyed(key string) http.Header { return http.Header{"Idempotence-Key": {key}} }

// refusal is YooKassa's error object (https://yookassa.ru/developers/using-api/response-handling/response-format). It
// omits the description, which may quote the request.
type refusal struct {
	status    int
	Type      string `json:"type"`
	ID        string `json:"id"`
	Code      string `json:"code"`
	Parameter string `json:"parameter"`
}

// Error implements error. It contains the refusal's id for YooKassa's support.
func (r *refusal) Error() string {
	return fmt.Sprintf("yookassa responded with %d %s %s, error %s", r.status, r.Code, r.Parameter, r.ID)
}

// readRefusal returns a definitive error as a refusal, and any other error as an error. A response that is not in
// YooKassa's format may come from a proxy, so it is not a refusal.
func readRefusal(a kit.Answer) (*refusal, error) {
	var r refusal
	if err := json.Unmarshal(a.Body, &r); err != nil || r.Type != "error" || r.Code == "" {
		return nil, fmt.Errorf("the response with status %d is not in YooKassa's format", a.Status)
	}
	r.status = a.Status
	if !r.definitive() {
		return nil, &r
	}
	return &r, nil
}

// definitive reports whether the error refuses this request. An error about the idempotency key concerns another request
// with the same key ("Idempotence key duplicated"). 429 and 500 are transient.
func (r *refusal) definitive() bool {
	switch r.status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return r.Parameter != "Idempotence-Key"
	}
	return false
}

// Missing implements kit.Refusal.
func (r *refusal) Missing() bool { return r.status == http.StatusNotFound && r.Code == "not_found" }

var errNameless = errors.New("the answer names no object")
