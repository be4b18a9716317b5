// Package robokassa takes payments by Robokassa (https://docs.robokassa.ru/ru). The customer pays at a signed link. The
// link's invoice number is calculated from the attempt's id. A charge makes no call, and the same attempt always has the
// same link. So no charge can be lost or made twice.
package robokassa

import (
	"cmp"
	"context"
	"crypto/md5"  //nolint:gosec // the scheme's default
	"crypto/sha1" //nolint:gosec // one of the scheme's hashes
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
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// Shop is a shop with the technical settings of its cabinet.
type Shop struct {
	Login string
	// Password1 signs links and the commands for holds. Password2 signs lookups. Password3 signs refunds, which
	// Robokassa enables on request (https://docs.robokassa.ru/ru/refund-api).
	Password1, Password2, Password3 string
	// Hash is the hash that the shop has chosen for signatures; md5 if empty.
	Hash string
	// Currency is the currency of all amounts, RUB if empty. Requests and responses contain no currency.
	Currency payment.Currency
	// Taxation is the tax system on fiscal receipts; if empty, the cabinet's tax system.
	Taxation string
	// Test is set if the passwords are those for test payments.
	Test bool
}

// Client is one shop at Robokassa. It implements gateway.Provider.
type Client struct {
	kit.OneStep

	shop Shop
	hash func() hash.Hash
	// base is the address of links, lookups and holds. refunds is the address of refunds.
	base, refunds string
	http          *http.Client
}

const (
	address        = "https://auth.robokassa.ru"
	refundsAddress = "https://services.robokassa.ru"
)

// hashes are the hashes that a shop can choose, except ripemd160, which Go's standard library lacks.
//
//nolint:gochecknoglobals // a table
var hashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
}

// New returns the client of a shop. The base replaces both of Robokassa's own addresses. New returns webhooks.ErrConfig
// for an unknown hash or tax system.
func New(base string, shop Shop, client *http.Client) (*Client, error) {
	algorithm, known := hashes[strings.ToLower(cmp.Or(shop.Hash, "md5"))]
	if !known {
		return nil, fmt.Errorf("%w: hash %q is not supported: choose sha256 in the shop's settings", webhooks.ErrConfig, shop.Hash)
	}
	if shop.Taxation != "" && !taxations[shop.Taxation] {
		return nil, fmt.Errorf("%w: taxation %q is not a value of Robokassa's", webhooks.ErrConfig, shop.Taxation)
	}
	shop.Currency = cmp.Or(shop.Currency, "RUB")
	base = strings.TrimRight(base, "/")
	return &Client{shop: shop, hash: algorithm, base: cmp.Or(base, address), refunds: cmp.Or(base, refundsAddress), http: client}, nil
}

// Capabilities implements gateway.Provider. https://docs.robokassa.ru/ru/xml-interfaces describes OpStateExt (a lookup
// by the shop's invoice number). …/holding describes confirming a hold (all or a part, once) and cancelling it; the
// responses only accept both commands. …/refund-api describes any number of partial refunds. They have no key, and only
// Robokassa's id finds them. A link that was not opened is not a payment, and may be created again.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		Resend: payment.ResendUnfound, Lookup: payment.LookupConsistent, Identity: payment.IdentityOwn,
		Captures: payment.CapturesOnce, Cancels: payment.CancelsByID,
		Refunds: payment.RefundsParts, RefundLookup: payment.RefundLookupInPayment,
	}
}

var errCurrency = errors.New("not the shop's currency")

// sum formats money in the shop's currency for signatures and receipts.
func (c *Client) sum(m payment.Money) (string, error) {
	if m.Currency != c.shop.Currency {
		return "", fmt.Errorf("%w: %s: %w", gateway.ErrUnsupportedRequest, m.Currency, errCurrency)
	}
	return kit.Decimal(m)
}

// sign returns the hexadecimal hash of the values, joined by colons (https://docs.robokassa.ru/ru/pay-interface,
// "SignatureValue").
func (c *Client) sign(values ...string) string {
	h := c.hash()
	_, _ = io.WriteString(h, strings.Join(values, ":"))
	return hex.EncodeToString(h.Sum(nil))
}

// send sends a request and returns a response with one of these statuses.
func (c *Client) send(ctx context.Context, r kit.Request, statuses ...int) (kit.Answer, error) {
	a, err := kit.Do(ctx, c.http, r)
	if err == nil && !slices.Contains(statuses, a.Status) {
		err = fmt.Errorf("unexpected response of Robokassa with status %d", a.Status)
	}
	return a, err
}

// posted returns a POST request with a form.
func posted(address string, form url.Values, l gateway.Permit) kit.Request {
	return kit.Request{
		Method: http.MethodPost, URL: address, Permit: &l, Body: []byte(form.Encode()),
		Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
	}
}
