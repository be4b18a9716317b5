// Package gocardless looks up payments and refunds at GoCardless
// (https://developer.gocardless.com/api-reference/), whose events carry no amounts. It begins
// none: a direct debit needs a mandate, which the shop sets up with its customer.
package gocardless

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// Client is one creditor at GoCardless. It implements gateway.Provider.
type Client struct {
	call.LookupOnly

	base, key string
	http      *http.Client
}

const (
	address = "https://api.gocardless.com"
	sandbox = "https://api-sandbox.gocardless.com"
)

// New returns the client of an access token, which may read payments and refunds. One that
// begins with sandbox_ calls the sandbox; base replaces either address.
func New(base, key string, client *http.Client) *Client {
	if base == "" && strings.HasPrefix(key, "sandbox_") {
		base = sandbox
	}
	return &Client{base: strings.TrimRight(cmp.Or(base, address), "/"), key: key, http: client}
}

// Capabilities implements gateway.Provider. The list of payments has no filter by metadata.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{LookupOnly: true, OneID: true, LookupRefund: true, RefundAlone: true, WholeChargebacks: true, ShowsRefunds: true, ShowsDisputes: true}
}

// version is that of the API, which every request names
// (https://developer.gocardless.com/api-reference/#making-requests-versions).
const version = "2015-07-06"

// get reads an object, which GoCardless wraps in its collection's name.
func (c *Client) get(ctx context.Context, collection, id string, out any) error {
	return c.read(ctx, collection+"/"+url.PathEscape(id), out)
}

func (c *Client) read(ctx context.Context, path string, out any) error {
	a, err := call.Do(ctx, c.http, call.Request{
		Method: http.MethodGet, URL: c.base + "/" + path,
		Header: http.Header{"Authorization": {"Bearer " + c.key}, "Gocardless-Version": {version}, "Accept": {"application/json"}},
	})
	switch {
	case err != nil:
		return err
	case a.Status == http.StatusOK:
		return a.Read(out)
	}
	return refused(a)
}

var errNameless = errors.New("the answer names no object")

// refused reads GoCardless's error
// (https://developer.gocardless.com/api-reference/#api-usage-errors). A response that is not in
// its format may come from a proxy: it says nothing of a payment.
func refused(a call.Answer) error {
	var said struct {
		Error struct {
			Type string `json:"type"`
			Code int    `json:"code"`
		} `json:"error"`
	}
	if err := a.Read(&said); err != nil || said.Error.Code != a.Status || said.Error.Type == "" {
		return fmt.Errorf("somebody answers %d for GoCardless", a.Status)
	}
	if a.Status == http.StatusNotFound {
		return gateway.ErrNoSuchPayment
	}
	return fmt.Errorf("gocardless says %d %s", a.Status, said.Error.Type)
}
