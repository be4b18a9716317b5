// Package robokassa takes payments by Robokassa (https://docs.robokassa.ru/ru): the customer pays at a signed
// link, whose invoice number is made of the attempt's id. Making a link is no call, and the same attempt has
// the same link each time: no charge can be lost, and none is made twice.
package robokassa

import (
	"cmp"
	"context"
	"crypto/md5"  //nolint:gosec // the scheme's default
	"crypto/sha1" //nolint:gosec // one of the scheme's
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
	"github.com/paylatch/paylatch/webhooks"
)

// Shop is a shop as the technical settings of its cabinet have it.
type Shop struct {
	Login string
	// Password1 signs links and what is done with holds, Password2 lookups, Password3 refunds, which
	// Robokassa allows on request (https://docs.robokassa.ru/ru/refund-api).
	Password1, Password2, Password3 string
	// Hash is the one that was chosen for signatures; md5 if empty.
	Hash string
	// Currency is that of all amounts, RUB if empty: neither requests nor responses contain one.
	Currency payment.Currency
	// Taxation is the tax system on fiscal receipts; that of the cabinet if empty.
	Taxation string
	// Test is set if the passwords are those for test payments.
	Test bool
}

// Client is one shop at Robokassa. It implements gateway.Provider.
type Client struct {
	call.OneStep

	shop Shop
	hash func() hash.Hash
	// base is the address of links, lookups and holds, refunds that of the refunds.
	base, refunds string
	http          *http.Client
}

const (
	address        = "https://auth.robokassa.ru"
	refundsAddress = "https://services.robokassa.ru"
)

// hashes are those that a shop can choose, but for ripemd160, which Go does not have.
//
//nolint:gochecknoglobals // a table
var hashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
}

// New returns the client of a shop; base replaces both of Robokassa's own addresses. For a hash, or a tax
// system, that there is not it returns webhooks.ErrConfig.
func New(base string, shop Shop, client *http.Client) (*Client, error) {
	algorithm, known := hashes[strings.ToLower(cmp.Or(shop.Hash, "md5"))]
	if !known {
		return nil, fmt.Errorf("%w: hash %q is not supported: choose sha256 in the shop's settings", webhooks.ErrConfig, shop.Hash)
	}
	if shop.Taxation != "" && !taxations[shop.Taxation] {
		return nil, fmt.Errorf("%w: taxation %q is none of Robokassa's", webhooks.ErrConfig, shop.Taxation)
	}
	shop.Currency = cmp.Or(shop.Currency, "RUB")
	base = strings.TrimRight(base, "/")
	return &Client{shop: shop, hash: algorithm, base: cmp.Or(base, address), refunds: cmp.Or(base, refundsAddress), http: client}, nil
}

// Capabilities implements gateway.Provider: https://docs.robokassa.ru/ru/xml-interfaces (OpStateExt, by the
// shop's invoice number), …/holding (confirm all or a part, once; cancel; both are only accepted by their
// responses), …/refund-api (any number of parts, without a key; a refund has Robokassa's id alone). A link
// that was not opened is no payment, and may be made again.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		Find: true, FindConsistent: true, FindFirst: true,
		Capture: true, PartialCapture: true, CaptureUnseen: true, Cancel: true,
		Refund: true, PartialRefund: true, LookupRefund: true,
	}
}

var errCurrency = errors.New("not the shop's currency")

// sum formats money of the shop's currency, as signatures and receipts have it.
func (c *Client) sum(m payment.Money) (string, error) {
	if m.Currency != c.shop.Currency {
		return "", fmt.Errorf("%w: %s: %w", gateway.ErrUnfit, m.Currency, errCurrency)
	}
	return call.Decimal(m)
}

// sign returns the hash over values with a colon between them, in hexadecimal
// (https://docs.robokassa.ru/ru/pay-interface, "SignatureValue").
func (c *Client) sign(values ...string) string {
	h := c.hash()
	_, _ = io.WriteString(h, strings.Join(values, ":"))
	return hex.EncodeToString(h.Sum(nil))
}

// send sends a request and returns a response with one of these statuses.
func (c *Client) send(ctx context.Context, r call.Request, statuses ...int) (call.Answer, error) {
	a, err := call.Do(ctx, c.http, r)
	if err == nil && !slices.Contains(statuses, a.Status) {
		err = fmt.Errorf("not an answer of Robokassa's: %d", a.Status)
	}
	return a, err
}

// posted is a request with a form.
func posted(address string, form url.Values, l gateway.Permit) call.Request {
	return call.Request{
		Method: http.MethodPost, URL: address, Permit: &l, Body: []byte(form.Encode()),
		Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
	}
}
