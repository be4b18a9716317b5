// Package braintree calls Braintree's server API, by the requests of its official libraries
// (https://github.com/braintree/braintree_node, lib/braintree/http.js: requests in JSON, responses in XML): a
// transaction is made in one call with a nonce of the browser's or with a vaulted payment method, and then submitted
// for settlement, voided or refunded. 3-D Secure is done in the browser: its nonce carries the proof.
//
// The API by GraphQL is not used: it names a transaction by another id than webhooks do.
//
// Cards have no webhook: what becomes of a payment shows in lookups.
//
// A charge is never made twice. It bears an api_request_key, by which Braintree returns the transaction of an earlier
// request as it then is. That of a vaulted payment method is sent once all the same, and then looked for by its order_id.
// That of a nonce, which is consumed by its first use
// (https://developer.paypal.com/braintree/docs/guides/payment-method-nonces/), is looked for before it is sent again.
// Without keys (Client.Keyless) it is sent once as well.
//
// Nothing is built on Braintree's checking of duplicates: a key excludes it, merchants set its time (30 seconds unless
// they do) and may switch it off, and a transaction that is still at the card network counts in it as well. A rejection
// as a duplicate is no decline
// (https://developer.paypal.com/braintree/articles/control-panel/transactions/duplicate-checking). The API by GraphQL
// promises no more: its clientMutationId only pairs requests with responses
// (https://developer.paypal.com/braintree/graphql/reference/types/charge-payment-method-input.md).
package braintree

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

const (
	// address is that of the official libraries (braintree_node, lib/braintree/environment.js).
	address = "https://api.braintreegateway.com"
	// version is the API's, as the official libraries send it (braintree_node, lib/braintree/config.js).
	version = "6"
	// keyLife is a day less than the 30 days of a key
	// (https://developer.paypal.com/braintree/graphql/reference/types/refund-transaction-input.md).
	keyLife = 29 * 24 * time.Hour
	// findLag is ours: no page documents how soon a search shows a transaction
	// (https://developer.paypal.com/braintree/docs/reference/request/transaction/search).
	findLag = time.Minute
)

// Client is one merchant at Braintree. It implements gateway.Provider.
type Client struct {
	call.OneStep

	// Currency is that of the merchant account, without which nothing is charged, captured or refunded: a request names
	// no currency (https://developer.paypal.com/braintree/docs/reference/request/transaction/sale).
	Currency payment.Currency
	// MerchantAccount is the merchant account of the transactions; empty for the default one.
	MerchantAccount string
	// Keyless is set where requests may bear no api_request_key (error 915231).
	Keyless bool

	base   string
	header http.Header
	http   *http.Client
}

// New returns the client of a merchant by its id and its pair of keys; base replaces Braintree's own address.
func New(base, merchant, public, private string, client *http.Client) *Client {
	return &Client{
		base: strings.TrimRight(cmp.Or(base, address), "/") + "/merchants/" + url.PathEscape(merchant), http: client,
		header: http.Header{
			"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(public+":"+private))},
			"X-Apiversion":  {version}, "Accept": {"application/xml"},
		},
	}
}

// Capabilities implements gateway.Provider: the requests "Transaction: Sale", "Submit For Settlement" (all or a part),
// "Void", "Refund" (in any number of parts), "Find" and "Search" below
// https://developer.paypal.com/braintree/docs/reference/request/transaction.
//
// The keys are those of "At-Most-Once Processing" (https://developer.paypal.com/braintree/graphql/integration_guides/idempotency),
// which this API takes as well (braintree_node 3.37.0, CHANGELOG.md; braintree_python,
// tests/integration/test_transaction_idempotency.py): the same request with the same key returns the same transaction, in
// whatever status it then is, and 30 days long. The page reserves keys to the API by GraphQL, though, and the reference
// of this one does not have them: so a charge is sent again only if its nonce would be consumed, once a search has not
// found it, and once.
//
// That a search by order_id does not show a transaction is no proof that there is none, however late. A transaction's
// refunds are part of the transaction itself, and no search.
func (c *Client) Capabilities() payment.Capabilities {
	can := payment.Capabilities{
		KeyLife: keyLife, Find: true, FindLag: findLag, FindFirst: true,
		Capture: true, PartialCapture: true, Cancel: true, Refund: true, PartialRefund: true,
		LookupRefund: true, RefundAlone: true, RefundsConsistent: true, ShowsRefunds: true, ShowsDisputes: true,
	}
	if c.Keyless {
		can.KeyLife, can.FindFirst = 0, false
	}
	return can
}

// key is the api_request_key of a request, empty for a merchant without keys.
func (c *Client) key(key string) string {
	if c.Keyless {
		return ""
	}
	return key
}

// command sends what may change something and returns the transaction, or the refusal.
func (c *Client) command(ctx context.Context, method, path string, l gateway.Permit, body any) (transaction, *refusal, error) {
	a, err := c.send(ctx, call.Request{Method: method, URL: path, Permit: &l}, body)
	if err != nil {
		return transaction{}, nil, err
	}
	var t transaction
	refused, err := read(a, &t)
	return t, refused, err
}

// transaction looks a transaction up; the first lookup of a command has the command's permit.
func (c *Client) transaction(ctx context.Context, id string, l *gateway.Permit) (transaction, error) {
	var t transaction
	err := c.get(ctx, transactionPath(id), l, &t)
	return t, err
}

// get sends a read. It returns gateway.ErrNoSuchPayment for an object that Braintree does not have.
func (c *Client) get(ctx context.Context, path string, l *gateway.Permit, out any) error {
	a, err := c.send(ctx, call.Request{Method: http.MethodGet, URL: path, Permit: l}, nil)
	if err != nil {
		return err
	}
	refused, err := read(a, out)
	switch {
	case err != nil:
		return err
	case refused.missing():
		return gateway.ErrNoSuchPayment
	case refused != nil:
		return refused
	}
	return nil
}

func (c *Client) send(ctx context.Context, r call.Request, body any) (call.Answer, error) {
	r.URL, r.Header = c.base+r.URL, c.header.Clone()
	return call.DoJSON(ctx, c.http, r, body)
}

func transactionPath(id string) string { return "/transactions/" + url.PathEscape(id) }

var errNameless = errors.New("the answer names no transaction")
