// Package gocardless calls GoCardless (https://developer.gocardless.com/api-reference/). A payment (PM…) is collected by
// a mandate (MD…), or begins as a billing request (BRQ…). The customer authorises a billing request on GoCardless's
// page, and GoCardless then creates the payment.
//
// Requests that create an object carry an idempotency key. If the key was used before, GoCardless answers 409 with the
// id of the object that it created (https://gocardless.com/blog/idempotency-keys). The adapter reads this object and
// returns it as the result. GoCardless does not publish how long keys live. A refund is also searched for in its
// payment's list before it is sent. A cancel moves no money.
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
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Client is one creditor at GoCardless. It implements gateway.Provider.
type Client struct {
	kit.OneStep

	api *kit.API[*refusal]
}

const (
	address = "https://api.gocardless.com"
	sandbox = "https://api-sandbox.gocardless.com"
	// version is the API version that every request names
	// (https://developer.gocardless.com/api-reference/#making-requests-versions).
	version = "2015-07-06"
)

// New returns the client of an access token. Lookups need a token with read access, and all commands a token with write
// access. A token with the prefix sandbox_ calls the sandbox. The base replaces either address.
func New(base, key string, client *http.Client) *Client {
	if base == "" && strings.HasPrefix(key, "sandbox_") {
		base = sandbox
	}
	return &Client{api: &kit.API[*refusal]{
		Name: "GoCardless", Base: strings.TrimRight(cmp.Or(base, address), "/"), HTTP: client, Done: []int{http.StatusOK, http.StatusCreated},
		Header: func() http.Header {
			return http.Header{"Authorization": {"Bearer " + key}, "Gocardless-Version": {version}, "Accept": {"application/json"}}
		},
		Read: readRefusal,
	}}
}

// keyLife is our estimate. GoCardless publishes no time.
const keyLife = 50 * time.Minute

// requestPrefix is the prefix of the ids of billing requests.
const requestPrefix = "BRQ"

// Capabilities implements gateway.Provider. The lists of payments and of billing requests have no filter by metadata.
// GoCardless has no holds. A billing request is a container with one payment.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: keyLife, Lookup: payment.LookupByID, Identity: payment.IdentityOwn,
		CapturesSeen: true, Cancels: payment.CancelsByID,
		Refunds: payment.RefundsParts, RefundLookup: payment.RefundLookupAlone, Shows: payment.ShowsChargebacks,
	}
}

// get reads an object. GoCardless wraps the object in the name of its collection.
func (c *Client) get(ctx context.Context, collection, id string, l *gateway.Permit, out any) error {
	return c.api.Get(ctx, "/"+collection+"/"+url.PathEscape(id), l, out)
}

// create creates an object of a collection, or reads the object that the key created before.
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
	// errMade is returned if the object that the key created can't be read. If it counted as missing, it would look as
	// if it was never created.
	errMade = errors.New("what the key has made is not there")
)

// reasonConflict is the reason for a used key.
const reasonConflict = "idempotent_creation_conflict"

// refusal is GoCardless's error object (https://developer.gocardless.com/api-reference/#api-usage-errors). It omits the
// messages, which may quote the request.
type refusal struct {
	Type   string `json:"type"`
	Code   int    `json:"code"`
	Errors []struct {
		Reason string `json:"reason"`
		Field  string `json:"field"`
		Links  struct {
			// ConflictingResourceID is set for a used key (ErrorLinks of GoCardless's Go client, gc.go).
			ConflictingResourceID string `json:"conflicting_resource_id"`
		} `json:"links"`
	} `json:"errors"`
}

// code returns the most specific part: the reason, the wrong field, or the type of the error.
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

// conflicting returns the id of the object that the request's key created, or "" if the error does not contain it.
func (r *refusal) conflicting() string {
	for _, one := range r.Errors {
		if id := one.Links.ConflictingResourceID; id != "" {
			return id
		}
	}
	return ""
}

// Error implements error.
func (r *refusal) Error() string {
	return fmt.Sprintf("gocardless responded with %d %s", r.Code, r.code())
}

// Missing implements kit.Refusal.
func (r *refusal) Missing() bool { return r.Code == http.StatusNotFound }

// readRefusal returns a definitive error as a refusal, and any other error as an error. A response that is not in
// GoCardless's format may come from a proxy, so it is no statement about a payment.
func readRefusal(a kit.Answer) (*refusal, error) {
	var said struct {
		Error refusal `json:"error"`
	}
	if err := a.Read(&said); err != nil || said.Error.Code != a.Status || said.Error.Type == "" {
		return nil, fmt.Errorf("the response with status %d is not in GoCardless's format", a.Status)
	}
	if !slices.Contains(definitive(), a.Status) {
		return nil, &said.Error
	}
	return &said.Error, nil
}

// definitive returns the statuses of errors that refuse the request. 429 and 5xx are transient.
func definitive() []int {
	return []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity,
	}
}
