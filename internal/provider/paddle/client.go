package paddle

import (
	"cmp"
	"context"
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

// Client is one seller at Paddle. It implements gateway.Provider, gateway.Books and gateway.EventLog.
type Client struct {
	kit.OneStep

	// TaxCategory is the tax category of the goods; empty for Paddle's standard category
	// (https://developer.paddle.com/api-reference/transactions/create-transaction.md, "tax_category").
	TaxCategory string

	api *kit.API[*refusal]
}

const (
	address = "https://api.paddle.com"
	sandbox = "https://sandbox-api.paddle.com"
	// version is the version of the API (https://developer.paddle.com/api-reference/about/versioning).
	version = "1"
	// findLag is our estimate. Paddle does not document how soon a list shows a transaction or an adjustment
	// (https://developer.paddle.com/api-reference/transactions/list-transactions).
	findLag = time.Minute
)

// New returns the client of an API key. A sandbox key calls the sandbox. The base replaces either address.
func New(base, key string, client *http.Client) *Client {
	if base == "" && strings.HasPrefix(key, "pdl_sdbx_") {
		base = sandbox
	}
	return &Client{api: &kit.API[*refusal]{
		Name: "Paddle", Base: strings.TrimRight(cmp.Or(base, address), "/"), HTTP: client, Done: []int{http.StatusOK, http.StatusCreated},
		Header: func() http.Header {
			return http.Header{"Authorization": {"Bearer " + key}, "Paddle-Version": {version}, "Accept": {"application/json"}}
		},
		Read: readRefusal,
	}}
}

// Capabilities implements gateway.Provider. It describes the operations of transactions and adjustments below
// https://developer.paddle.com/api-reference. A payment is captured at once; Paddle has no holds.
//
// Paddle has no idempotency keys, so nothing is sent twice. A transaction takes no money before its customer pays it. If
// one attempt has two transactions, only the customer's link matters, and after a lost answer no link was passed on. So
// a transaction that a list does not show counts as not created.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		Lookup: payment.LookupConsistent, FindLag: findLag, Identity: payment.IdentityByBrowser,
		CapturesSeen: true, Cancels: payment.CancelsByID,
		Refunds: payment.RefundsParts, RefundLookup: payment.RefundLookupAlone, Shows: payment.ShowsDisputes,
	}
}

func transactionPath(id string) string { return "/transactions/" + url.PathEscape(id) }

// transaction looks up a transaction. The first lookup of a command carries the command's permit.
func (c *Client) transaction(ctx context.Context, id string, l *gateway.Permit) (transaction, error) {
	var found struct {
		Data transaction `json:"data"`
	}
	err := c.api.Get(ctx, transactionPath(id), l, &found)
	return found.Data, err
}

// refusal is Paddle's error object (https://developer.paddle.com/api-reference/about/errors.md). It omits the detail,
// which may quote the request.
type refusal struct {
	Status int    `json:"-"`
	Type   string `json:"type"`
	Code   string `json:"code"`
}

// Error implements error.
func (r *refusal) Error() string { return fmt.Sprintf("paddle responded with %d %s", r.Status, r.Code) }

// Missing implements kit.Refusal.
func (r *refusal) Missing() bool { return r.Status == http.StatusNotFound }

// readRefusal returns a definitive error as a refusal. Other errors are no refusals: 409 may concern another request,
// 429 and 5xx are transient, and a response in another format may come from a proxy.
func readRefusal(a kit.Answer) (*refusal, error) {
	var said struct {
		Error *refusal `json:"error"`
	}
	err := a.Read(&said)
	if err != nil || said.Error == nil || said.Error.Type != "request_error" || said.Error.Code == "" {
		return nil, fmt.Errorf("the response with status %d is not in Paddle's format", a.Status)
	}
	said.Error.Status = a.Status
	switch a.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity:
		return said.Error, nil
	}
	return nil, said.Error
}

var errNoObject = errors.New("the answer names no object")
