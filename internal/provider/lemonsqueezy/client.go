package lemonsqueezy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Store is the place for checkouts: a variant of a product. Each checkout replaces the variant's price.
type Store struct {
	ID, Variant string
	// Currency is the store's currency. A price has no currency of its own.
	Currency payment.Currency
	// Test makes checkouts in test mode.
	Test bool
	// LinkLife is the time during which a customer can open a checkout; 0 is an hour.
	LinkLife time.Duration
}

// Client is one store at Lemon Squeezy. It implements gateway.Provider and gateway.Books.
type Client struct {
	kit.OneStep

	store Store
	api   *kit.API[*refusal]
	now   func() time.Time
}

const (
	address = "https://api.lemonsqueezy.com"
	// media is the media type of every request (https://docs.lemonsqueezy.com/api/getting-started/requests).
	media = "application/vnd.api+json"
	// findLag is our estimate. Lemon Squeezy does not document how soon a list shows a checkout or an order
	// (https://docs.lemonsqueezy.com/api/checkouts/list-all-checkouts).
	findLag = time.Minute
)

// New returns the client of an API key. A key belongs to test mode or to live mode. The base replaces the address.
func New(base, key string, store Store, client *http.Client, now func() time.Time) *Client {
	store.LinkLife = cmp.Or(store.LinkLife, time.Hour)
	return &Client{store: store, now: now, api: &kit.API[*refusal]{
		Name: "Lemon Squeezy", Base: strings.TrimRight(cmp.Or(base, address), "/") + "/v1", HTTP: client, Done: []int{http.StatusOK, http.StatusCreated},
		Header: func() http.Header {
			return http.Header{"Authorization": {"Bearer " + key}, "Accept": {media}, "Content-Type": {media}}
		},
		Read: readRefusal,
		Send: func(ctx context.Context, r kit.Request, body any) (kit.Answer, error) {
			return send(ctx, client, r, body)
		},
	}}
}

// send sends JSON with the media type of JSON:API.
func send(ctx context.Context, client *http.Client, r kit.Request, body any) (a kit.Answer, err error) {
	if body != nil {
		if r.Body, err = kit.JSON(body); err != nil {
			return kit.Answer{}, err
		}
	}
	return kit.Do(ctx, client, r)
}

// Capabilities implements gateway.Provider. It describes the operations of checkouts and orders below
// https://docs.lemonsqueezy.com/api. A payment is captured at once; Lemon Squeezy has no holds.
//
// Lemon Squeezy has no idempotency keys, so nothing is sent twice. A checkout takes no money before its customer pays
// it. If one attempt has two checkouts, only the customer's link matters, and after a lost answer no link was passed on.
// So a checkout that a list does not show counts as not created. Each order that a customer creates by a link is a
// payment, and the checkout is its container. Find finds only checkouts that an API key created.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		Lookup: payment.LookupConsistent, FindLag: findLag, Identity: payment.IdentityOwn,
		CapturesSeen: true, Cancels: payment.CancelsByID,
		Refunds: payment.RefundsParts,
	}
}

// refusal is an error object of JSON:API (https://docs.lemonsqueezy.com/api/getting-started/errors; the form is that of
// lemonsqueezy.js, src/internal/fetch/types.ts). It omits the detail, which may quote the request.
type refusal struct {
	status int
	Code   string `json:"code"`
	Title  string `json:"title"`
	Source struct {
		Pointer string `json:"pointer"`
	} `json:"source"`
}

// Error implements error.
func (r *refusal) Error() string {
	return fmt.Sprintf("lemon squeezy responded with %d %s", r.status, r.code())
}

// Missing implements kit.Refusal.
func (r *refusal) Missing() bool { return r.status == http.StatusNotFound }

// code returns the code if there is one. Most errors have only a title and the wrong member.
func (r *refusal) code() string { return cmp.Or(r.Code, r.Source.Pointer, r.Title) }

// readRefusal returns a definitive error as a refusal. 429 and 5xx are transient, and a response in another format may
// come from a proxy, so they are not refusals.
func readRefusal(a kit.Answer) (*refusal, error) {
	var got struct {
		Errors []*refusal `json:"errors"`
	}
	err := a.Read(&got)
	if err != nil || len(got.Errors) == 0 || got.Errors[0] == nil || got.Errors[0].code() == "" {
		return nil, fmt.Errorf("the response with status %d is not in Lemon Squeezy's format", a.Status)
	}
	first := got.Errors[0]
	first.status = a.Status
	switch a.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity:
		return first, nil
	}
	return nil, first
}

var (
	errNoObject = errors.New("the answer names no object")
	errUndated  = errors.New("it has no date")
)
