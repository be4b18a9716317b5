// Package sandbox calls the sandbox provider, internal/dev/sandbox. The sandbox implements the contract of package standard.
// So this adapter is the adapter of package standard, with additions for the sandbox's tokens.
package sandbox

import (
	"net/http"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/internal/provider/standard"
	"github.com/paylatch/paylatch/webhooks"
)

// keyLife is the assumed life of a key. The sandbox never deletes a key.
const keyLife = 365 * 24 * time.Hour

// Client is one account at a sandbox. It implements gateway.Provider, gateway.Books and gateway.EventLog.
type Client struct{ *standard.Client }

// New returns the client of the sandbox at a base address. If the API key is empty, calls have no Authorization header.
func New(base, key string, client *http.Client) *Client {
	return &Client{standard.New(base, key, client)}
}

func of(s kit.Settings) *Client { return New(s.BaseURL, s.Params["api_key"], s.Client) }

// Adapter describes the adapter to the configuration.
func Adapter() kit.Adapter {
	a, api := standard.Adapter(), kit.APIKey()
	api.Optional = true
	a.Keys, a.TestHosts = []webhooks.Key{{Name: "base_url"}, api}, nil
	a.Merchant = kit.Merchant{}                                                                        // it has no key for one
	a.Trial = kit.Trial{Token: "tok_async_success", Decline: "tok_decline", Challenge: "tok_redirect"} //nolint:gosec // test tokens that everybody may use
	a.Carries = slices.Clone(a.Carries)
	for i, m := range a.Carries {
		if m.Member == "customer.billing_address" {
			a.Carries[i].When = "required with `tok_billing`"
		}
	}
	a.SecondStep = "what the challenge of `tok_3ds`, `tok_3ds_form` and `tok_3ds_sdk` returned: `sandbox_result` of the page's address, or the script's object"
	a.New = func(s kit.Settings) (gateway.Provider, error) { return of(s), nil }
	a.Books = func(s kit.Settings) (gateway.Books, error) { return of(s), nil }
	a.Events = func(s kit.Settings) (gateway.EventLog, error) { return of(s), nil }
	return a
}

// Capabilities implements gateway.Provider.
func (c *Client) Capabilities() payment.Capabilities {
	can := c.Client.Capabilities()
	can.KeyLife, can.Captures = keyLife, payment.CapturesSeveral
	return can
}

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	n.If(ch.Token == "tok_billing" && ch.Customer.Billing == nil, "customer.billing_address", "is required with this payment method")
	n.Data(ch.Details)
	return n.Err()
}
