// Package gocardless calls GoCardless (https://developer.gocardless.com/api-reference/): a payment is collected by a mandate
// (MD…), or begun as a billing request (BRQ…), which its customer authorises on GoCardless's page and of which GoCardless then
// makes the payment (PM…).
//
// What creates carries an idempotency key: one that was used is answered 409 with the id of what it has made
// (https://gocardless.com/blog/idempotency-keys), which is read and is the result. For how long keys are kept is not
// published. A refund is also looked for in its payment's list before it is sent. A cancel moves no money.
package gocardless

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
	"github.com/paylatch/paylatch/internal/provider/httpjson"
)

// Client is one creditor at GoCardless. It implements gateway.Provider.
type Client struct {
	call.OneStep

	api *httpjson.API[*refusal]
}

const (
	address = "https://api.gocardless.com"
	sandbox = "https://api-sandbox.gocardless.com"
	// version is that of the API, which every request names
	// (https://developer.gocardless.com/api-reference/#making-requests-versions).
	version = "2015-07-06"
)

// New returns the client of an access token; lookups need one that reads, all else one that writes. One that begins
// with sandbox_ calls the sandbox; base replaces either address.
func New(base, key string, client *http.Client) *Client {
	if base == "" && strings.HasPrefix(key, "sandbox_") {
		base = sandbox
	}
	return &Client{api: &httpjson.API[*refusal]{
		Name: "GoCardless", Base: strings.TrimRight(cmp.Or(base, address), "/"), HTTP: client, Done: []int{http.StatusOK, http.StatusCreated},
		Header: func() http.Header {
			return http.Header{"Authorization": {"Bearer " + key}, "Gocardless-Version": {version}, "Accept": {"application/json"}}
		},
		Read: readRefusal,
	}}
}

// keyLife is what is counted on: no time is published.
const keyLife = 50 * time.Minute

// requestPrefix is that of the ids of billing requests.
const requestPrefix = "BRQ"

// Capabilities implements gateway.Provider. The lists of payments and of billing requests have no filter by metadata.
// Nothing is held and captured later. A billing request is a container, and makes one payment.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: keyLife, Cancel: true, Refund: true, PartialRefund: true, LookupRefund: true, RefundAlone: true,
		WholeChargebacks: true, ShowsRefunds: true, ShowsDisputes: true,
	}
}

// get reads an object, which GoCardless wraps in its collection's name.
func (c *Client) get(ctx context.Context, collection, id string, l *gateway.Permit, out any) error {
	return c.api.Get(ctx, "/"+collection+"/"+url.PathEscape(id), l, out)
}

// create makes an object of a collection, or reads the one that the key has made before.
func (c *Client) create(ctx context.Context, collection, key string, l gateway.Permit, body, out any) (*refusal, error) {
	refused, err := c.api.Post(ctx, "/"+collection, http.Header{"Idempotency-Key": {key}}, l, map[string]any{collection: body}, out)
	if err != nil || refused == nil || !refused.has(reasonConflict) {
		return refused, err
	}
	made := refused.conflicting()
	if made == "" {
		return nil, refused
	}
	if err = c.get(ctx, collection, made, nil, out); errors.Is(err, gateway.ErrNoSuchPayment) {
		err = errMade
	}
	return nil, err
}

var (
	errNameless = errors.New("the answer names no object")
	// errMade is returned for what a key has made and what can't be read: as a missing object it would be taken for
	// one that was never made.
	errMade = errors.New("what the key has made is not there")
)

// reasonConflict is that of a key that was used.
const reasonConflict = "idempotent_creation_conflict"

// refusal is GoCardless's error object (https://developer.gocardless.com/api-reference/#api-usage-errors). Its messages
// are left out: they may quote the request.
type refusal struct {
	Type   string `json:"type"`
	Code   int    `json:"code"`
	Errors []struct {
		Reason string `json:"reason"`
		Field  string `json:"field"`
		Links  struct {
			// ConflictingResourceID is of a key that was used (ErrorLinks of GoCardless's Go client, gc.go).
			ConflictingResourceID string `json:"conflicting_resource_id"`
		} `json:"links"`
	} `json:"errors"`
}

// code returns the most specific part: the reason, the field that is wrong, or the sort of error.
func (r *refusal) code() string {
	for _, one := range r.Errors {
		if text := cmp.Or(one.Reason, one.Field); text != "" {
			return text
		}
	}
	return r.Type
}

func (r *refusal) has(reason string) bool {
	for _, one := range r.Errors {
		if one.Reason == reason {
			return true
		}
	}
	return false
}

// conflicting is the id of what the request's key has made; empty if it is not in the error.
func (r *refusal) conflicting() string {
	for _, one := range r.Errors {
		if id := one.Links.ConflictingResourceID; id != "" {
			return id
		}
	}
	return ""
}

// Error implements error.
func (r *refusal) Error() string { return fmt.Sprintf("gocardless says %d %s", r.Code, r.code()) }

// Missing implements httpjson.Refusal.
func (r *refusal) Missing() bool { return r.Code == http.StatusNotFound }

// readRefusal returns a definitive error as a refusal, and any other as an error. A response that is not in
// GoCardless's format may come from a proxy: it states nothing of a payment.
func readRefusal(a call.Answer) (*refusal, error) {
	var said struct {
		Error refusal `json:"error"`
	}
	if err := a.Read(&said); err != nil || said.Error.Code != a.Status || said.Error.Type == "" {
		return nil, fmt.Errorf("somebody answers %d for GoCardless", a.Status)
	}
	if !slices.Contains(definitive(), a.Status) {
		return nil, &said.Error
	}
	return &said.Error, nil
}

// definitive are the statuses of errors about the request as such; 429 and 5xx are transient.
func definitive() []int {
	return []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity,
	}
}
