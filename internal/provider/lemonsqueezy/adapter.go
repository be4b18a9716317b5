// Package lemonsqueezy calls Lemon Squeezy, a merchant of record. See https://docs.lemonsqueezy.com/api. A checkout is
// a variant with its own price. The customer pays it on Lemon Squeezy's page, which creates an order.
//
// A charge is never made twice. It is sent once, and a checkout takes no money before its customer pays it. The API
// can't find a checkout's orders or the attempt of an order. Only webhooks report that a checkout was paid: they name
// the order and contain the checkout's mark. The checkout is the container. Each order is a payment, and lookups and
// refunds use the order's id.
package lemonsqueezy

import (
	"fmt"
	"regexp"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() kit.Adapter {
	return kit.Adapter{
		Keys: []webhooks.Key{
			kit.APIKey(),
			{Name: "store_id", Doc: "the store at Lemon Squeezy, a number"},
			{Name: "variant_id", Doc: "the variant at Lemon Squeezy, a number; its product must be a single payment; each checkout replaces the variant's price"},
			{Name: "store_currency", Doc: "the currency of the store at Lemon Squeezy"},
			{Name: "link_life", Optional: true, Doc: "Lemon Squeezy: how long a checkout can be opened; use the value of expiry.awaiting_customer; absent: 1h"},
			kit.TestPayments(),
		},
		Absent:  "00000000-0000-4000-8000-000000000000",
		TestKey: "test_payments", TestForm: regexp.MustCompile(`^true$`),
		Trial: kit.Trial{
			Params: map[string]string{"test_payments": "true"}, Page: "redirect",
			ByHand: "pay with one of Lemon Squeezy's test cards",
		},
		Carries: []kit.Carried{
			{Member: "return_url", As: "data.attributes.product_options.redirect_url"},
			{Member: "customer.email", As: "data.attributes.checkout_data.email", When: "the customer can change it"},
			{Member: "customer.name", As: "data.attributes.checkout_data.name", When: "the customer can change it"},
			{Member: "customer.billing_address", As: "data.attributes.checkout_data.billing_address.country", When: "only the country and the postal code"},
		},
		Payees:   kit.PayeesOf("store_id"),
		Merchant: kit.Merchant{Keys: []string{"store_id"}},
		New:      func(s kit.Settings) (gateway.Provider, error) { return of(s) },
		Books:    func(s kit.Settings) (gateway.Books, error) { return of(s) },
		Marks:    gateway.MarksNone,
		Lag:      findLag,
	}
}

var digits = regexp.MustCompile(`^[0-9]{1,18}$`)

// of returns the client of an account. It wraps webhooks.ErrConfig if an id is not a number or a time is invalid.
func of(s kit.Settings) (*Client, error) {
	store := Store{
		ID: s.Params["store_id"], Variant: s.Params["variant_id"], Currency: payment.Currency(s.Params["store_currency"]),
		Test: s.Params["test_payments"] == "true",
	}
	for _, name := range []string{"store_id", "variant_id"} {
		if id := s.Params[name]; id != "" && !digits.MatchString(id) {
			return nil, fmt.Errorf("%w: %s is no number", webhooks.ErrConfig, name)
		}
	}
	if life := s.Params["link_life"]; life != "" {
		var err error
		if store.LinkLife, err = time.ParseDuration(life); err != nil || store.LinkLife <= 0 {
			return nil, fmt.Errorf("%w: link_life %q is no time", webhooks.ErrConfig, life)
		}
	}
	return New(s.BaseURL, s.Params["api_key"], store, s.Client, s.Now), nil
}
