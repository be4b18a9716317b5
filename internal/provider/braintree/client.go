// Package braintree calls Braintree's server API. It sends the requests of the official libraries
// (https://github.com/braintree/braintree_node, lib/braintree/http.js: requests in JSON, responses in XML). One call
// creates a transaction with a nonce from the browser or with a vaulted payment method. The transaction is then
// submitted for settlement, voided or refunded. The browser performs 3-D Secure, and the nonce carries the proof.
//
// The adapter does not use the GraphQL API, because GraphQL and webhooks name a transaction by different ids.
//
// Braintree sends no webhooks about card payments. Lookups show their state.
//
// A charge is never made twice. It has an api_request_key, and Braintree returns the transaction of an earlier request
// with the same key in its current state. Even so, a charge of a vaulted payment method is sent only once, and then
// searched for by its order_id. A nonce is consumed by its first use
// (https://developer.paypal.com/braintree/docs/guides/payment-method-nonces/). A charge of a nonce is searched for
// before it is sent again. Without keys (Client.Keyless) it is also sent only once.
//
// The adapter does not depend on Braintree's duplicate checking. A key disables it, merchants set its time window
// (default: 30 seconds) and may switch it off, and it also counts transactions that are still at the card network. A
// rejection as a duplicate is not a decline
// (https://developer.paypal.com/braintree/articles/control-panel/transactions/duplicate-checking). The GraphQL API
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
	"github.com/paylatch/paylatch/internal/provider/kit"
)

const (
	// address is the address in the official libraries (braintree_node, lib/braintree/environment.js).
	address = "https://api.braintreegateway.com"
	// version is the API version that the official libraries send (braintree_node, lib/braintree/config.js).
	version = "6"
	// keyLife is one day shorter than the 30 days of a key
	// (https://developer.paypal.com/braintree/graphql/reference/types/refund-transaction-input.md).
	keyLife = 29 * 24 * time.Hour
	// findLag is our estimate. Braintree does not document how soon a search shows a transaction
	// (https://developer.paypal.com/braintree/docs/reference/request/transaction/search).
	findLag = time.Minute
)

// Client is one merchant at Braintree. It implements gateway.Provider.
type Client struct {
	kit.OneStep
	kit.TakesAtOnce

	// Currency is the currency of the merchant account. Without it the adapter sends no charge, capture or refund,
	// because a request names no currency
	// (https://developer.paypal.com/braintree/docs/reference/request/transaction/sale).
	Currency payment.Currency
	// MerchantAccount is the merchant account of the transactions; empty for the default account.
	MerchantAccount string
	// Keyless is set if Braintree refuses the merchant's requests with an api_request_key (error 915231).
	Keyless bool

	base   string
	header http.Header
	http   *http.Client
}

// New returns the client of a merchant, given its id and its pair of keys. The base replaces Braintree's own address.
func New(base, merchant, public, private string, client *http.Client) *Client {
	return &Client{
		base: strings.TrimRight(cmp.Or(base, address), "/") + "/merchants/" + url.PathEscape(merchant), http: client,
		header: http.Header{
			"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(public+":"+private))},
			"X-Apiversion":  {version}, "Accept": {"application/xml"},
		},
	}
}

// Capabilities implements gateway.Provider. The requests are "Transaction: Sale", "Submit For Settlement" (all or a
// part), "Void", "Refund" (in any number of parts), "Find" and "Search" below
// https://developer.paypal.com/braintree/docs/reference/request/transaction.
//
// The keys are the keys of "At-Most-Once Processing"
// (https://developer.paypal.com/braintree/graphql/integration_guides/idempotency). This API accepts them too
// (braintree_node 3.37.0, CHANGELOG.md; braintree_python, tests/integration/test_transaction_idempotency.py). For 30
// days, the same request with the same key returns the same transaction in its current status. But that page promises
// keys for the GraphQL API only, and this API's reference does not mention them. So the adapter resends a charge only if
// its nonce is single-use and a search has not found the charge, and only once.
//
// A search by order_id that finds no transaction is no proof that the transaction does not exist, however late the
// search is. A transaction contains the ids of its refunds, so refunds need no search.
func (c *Client) Capabilities() payment.Capabilities {
	can := payment.Capabilities{
		KeyLife: keyLife, Resend: payment.ResendUnfound, Lookup: payment.LookupByReference, FindLag: findLag, Identity: payment.IdentityOwn,
		Captures: payment.CapturesOnce, CapturesSeen: true, Cancels: payment.CancelsByID,
		Refunds: payment.RefundsParts, RefundLookup: payment.RefundLookupAlone, RefundsConsistent: true, Shows: payment.ShowsDisputes,
	}
	if c.Keyless {
		can.KeyLife, can.Resend = 0, payment.ResendByKey
	}
	return can
}

// key returns the api_request_key of a request, or "" for a merchant without keys.
func (c *Client) key(key string) string {
	if c.Keyless {
		return ""
	}
	return key
}

// command sends a command and returns the transaction or the refusal.
func (c *Client) command(ctx context.Context, method, path string, l gateway.Permit, body any) (transaction, *refusal, error) {
	a, err := c.send(ctx, kit.Request{Method: method, URL: path, Permit: &l}, body)
	if err != nil {
		return transaction{}, nil, err
	}
	var t transaction
	refused, err := read(a, &t)
	return t, refused, err
}

// transaction looks up a transaction. The first lookup of a command carries the command's permit.
func (c *Client) transaction(ctx context.Context, id string, l *gateway.Permit) (transaction, error) {
	var t transaction
	err := c.get(ctx, transactionPath(id), l, &t)
	return t, err
}

// get sends a read. It returns gateway.ErrNoSuchPayment if Braintree does not have the object.
func (c *Client) get(ctx context.Context, path string, l *gateway.Permit, out any) error {
	a, err := c.send(ctx, kit.Request{Method: http.MethodGet, URL: path, Permit: l}, nil)
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

func (c *Client) send(ctx context.Context, r kit.Request, body any) (kit.Answer, error) {
	r.URL, r.Header = c.base+r.URL, c.header.Clone()
	return kit.DoJSON(ctx, c.http, r, body)
}

func transactionPath(id string) string { return "/transactions/" + url.PathEscape(id) }

var errNameless = errors.New("the answer names no transaction")
