package lemonsqueezy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
	"github.com/paylatch/paylatch/internal/provider/httpjson"
)

// Store is where a charge makes its checkouts: a variant of a product, of which each checkout replaces the price.
type Store struct {
	ID, Variant string
	// Currency is that of the store: a price has none of its own.
	Currency payment.Currency
	// Test makes checkouts in test mode.
	Test bool
	// LinkLife is how long a checkout can be opened; 0 is an hour.
	LinkLife time.Duration
}

// Client is one store at Lemon Squeezy. It implements gateway.Provider and gateway.Books.
type Client struct {
	call.OneStep

	store Store
	api   *httpjson.API[*refusal]
	now   func() time.Time
}

const (
	address = "https://api.lemonsqueezy.com"
	// media is that of every request (https://docs.lemonsqueezy.com/api/getting-started/requests).
	media = "application/vnd.api+json"
	// findLag is ours: how soon a list shows a checkout, or an order, is not documented
	// (https://docs.lemonsqueezy.com/api/checkouts/list-all-checkouts).
	findLag = time.Minute
)

// New returns the client of an API key, which is one of test mode or of live mode; base replaces the address.
func New(base, key string, store Store, client *http.Client, now func() time.Time) *Client {
	store.LinkLife = cmp.Or(store.LinkLife, time.Hour)
	return &Client{store: store, now: now, api: &httpjson.API[*refusal]{
		Name: "Lemon Squeezy", Base: strings.TrimRight(cmp.Or(base, address), "/") + "/v1", HTTP: client, Done: []int{http.StatusOK, http.StatusCreated},
		Header: func() http.Header {
			return http.Header{"Authorization": {"Bearer " + key}, "Accept": {media}, "Content-Type": {media}}
		},
		Read: readRefusal,
		Send: func(ctx context.Context, r call.Request, body any) (call.Answer, error) {
			return send(ctx, client, r, body)
		},
	}}
}

// send sends JSON under the media type of JSON:API.
func send(ctx context.Context, client *http.Client, r call.Request, body any) (a call.Answer, err error) {
	if body != nil {
		if r.Body, err = json.Marshal(body); err != nil {
			return call.Answer{}, fmt.Errorf("%w: %w", gateway.ErrUnfit, err)
		}
	}
	return call.Do(ctx, client, r)
}

// Capabilities implements gateway.Provider: the operations of checkouts and orders below https://docs.lemonsqueezy.com/api.
// Money is taken at once; nothing is held.
//
// There are no idempotency keys, so nothing is sent twice. A checkout takes no money before its customer pays it: of two
// that were made for one attempt that one counts of which the link was given out, and after a lost answer none was. So
// that a list does not show it is as good as a proof. Each order that a customer makes by a link is a payment, and the
// checkout its container. Only checkouts that an API key has made are found.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		Find: true, FindLag: findLag, FindConsistent: true, Cancel: true, Refund: true, PartialRefund: true,
	}
}

// refusal is an error object of JSON:API (https://docs.lemonsqueezy.com/api/getting-started/errors; the form is that of
// lemonsqueezy.js, src/internal/fetch/types.ts). Its detail is left out, as it may quote the request.
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
	return fmt.Sprintf("lemon squeezy answers %d %s", r.status, r.code())
}

// Missing implements httpjson.Refusal.
func (r *refusal) Missing() bool { return r.status == http.StatusNotFound }

// code is what there is of a code: most errors have a title, and the member that is wrong.
func (r *refusal) code() string { return cmp.Or(r.Code, r.Source.Pointer, r.Title) }

// readRefusal returns a definitive error as a refusal. 429 and 5xx are transient, and a response of another form may come
// from a proxy: none refuses anything.
func readRefusal(a call.Answer) (*refusal, error) {
	var got struct {
		Errors []*refusal `json:"errors"`
	}
	err := a.Read(&got)
	if err != nil || len(got.Errors) == 0 || got.Errors[0] == nil || got.Errors[0].code() == "" {
		return nil, fmt.Errorf("not an error of Lemon Squeezy: %d", a.Status)
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
