// Package comgate looks up payments at Comgate (https://apidoc.comgate.cz, protocol 1.0), whose
// notifications are not signed. It begins none.
package comgate

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

// Client is one shop at Comgate. It implements gateway.Provider.
type Client struct {
	call.LookupOnly

	base, merchant, secret string
	http                   *http.Client
}

const address = "https://payments.comgate.cz"

// New returns the client of the shop with this number and secret; base replaces Comgate's own
// address.
func New(base, merchant, secret string, client *http.Client) *Client {
	return &Client{base: strings.TrimRight(cmp.Or(base, address), "/"), merchant: merchant, secret: secret, http: client}
}

// Capabilities implements gateway.Provider. There is no search, and nothing says of a payment
// that it was refunded.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{LookupOnly: true, OneID: true}
}

const (
	codeOK = "0"
	// codeMissing is answered, among others, for a payment that there is not.
	codeMissing = "1400"
)

var errNameless = errors.New("the answer names no payment")

// status reads how a payment stands. The answer is a form, whatever its status. It has the
// shop's secret in it, so that no error quotes it.
func (c *Client) status(ctx context.Context, id string) (url.Values, error) {
	a, err := call.Do(ctx, c.http, call.Request{
		Method: http.MethodPost, URL: c.base + "/v1.0/status", Question: true,
		Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
		Body:   []byte(url.Values{"merchant": {c.merchant}, "secret": {c.secret}, "transId": {id}}.Encode()),
	})
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(strings.TrimSpace(string(a.Body)))
	switch code := form.Get("code"); {
	case err != nil || code == "":
		return nil, fmt.Errorf("somebody answers %d for Comgate", a.Status)
	case code == codeMissing:
		return nil, gateway.ErrNoSuchPayment
	case code != codeOK:
		return nil, fmt.Errorf("comgate says %.8s", code)
	case form.Get("transId") != id, form.Get("merchant") != "" && form.Get("merchant") != c.merchant:
		return nil, errNameless
	}
	return form, nil
}
