// Package gopay looks up payments at GoPay (https://doc.gopay.com), whose notifications say
// nothing but a payment's id. It begins none.
package gopay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// Client is one shop at GoPay. It implements gateway.Provider.
type Client struct {
	call.LookupOnly

	base, goid string
	http       *http.Client
	tokens     *call.Tokens
}

const (
	address = "https://gate.gopay.cz"
	// scope is that of a token that reads payments (of the two that there are, the other
	// creates them).
	scope = "payment-all"
)

// New returns the client of the shop with this GoID; base replaces GoPay's own address, with
// or without the /api at its end, and now is the clock for the expiry of access tokens.
func New(base, id, secret, goid string, client *http.Client, now func() time.Time) *Client {
	base = strings.TrimSuffix(strings.TrimRight(cmp.Or(base, address), "/"), "/api") + "/api"
	return &Client{base: base, goid: goid, http: client, tokens: call.NewTokens(base+"/oauth2/token", id, secret, scope, client, now)}
}

// Capabilities implements gateway.Provider. There is no search, and no refund has a lookup of
// its own: a payment's are listed.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{LookupOnly: true, OneID: true, ShowsRefunds: true}
}

// get reads what is at a path. A rejected token is renewed, once.
func (c *Client) get(ctx context.Context, path string) (call.Answer, error) {
	for again := false; ; again = true {
		token, err := c.tokens.Token(ctx)
		if err != nil {
			return call.Answer{}, err
		}
		a, err := call.Do(ctx, c.http, call.Request{
			Method: http.MethodGet, URL: c.base + path, Header: http.Header{"Authorization": {"Bearer " + token}, "Accept": {"application/json"}},
		})
		switch {
		case err != nil:
			return call.Answer{}, err
		case a.Status == http.StatusOK:
			return a, nil
		case a.Status == http.StatusUnauthorized && !again:
			c.tokens.Drop(token)
		default:
			return call.Answer{}, refused(a)
		}
	}
}

func paymentPath(id string) string { return "/payments/payment/" + url.PathEscape(id) }

var errNameless = errors.New("the answer names no object")

// refused reads GoPay's error, a list of errors. A response that is not in its format may come
// from a proxy: it says nothing of a payment.
func refused(a call.Answer) error {
	var said struct {
		Errors []struct {
			Name string `json:"error_name"`
		} `json:"errors"`
	}
	if err := json.Unmarshal(a.Body, &said); err != nil || len(said.Errors) == 0 {
		return fmt.Errorf("somebody answers %d for GoPay", a.Status)
	}
	if a.Status == http.StatusNotFound {
		return gateway.ErrNoSuchPayment
	}
	return fmt.Errorf("gopay says %d %s", a.Status, said.Errors[0].Name)
}
