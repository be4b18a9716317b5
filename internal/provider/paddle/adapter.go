// Package paddle calls Paddle Billing (https://developer.paddle.com/api-reference/), a merchant of record. A transaction
// consists of items that are in no catalogue. The customer pays it in Paddle's checkout.
//
// A charge is never made twice. It is sent once, and a transaction takes no money before its customer pays it.
package paddle

import (
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() descriptor.Adapter {
	return descriptor.Adapter{
		Dashboard: dashboard(),
		Keys: []webhooks.Key{
			descriptor.APIKey(),
			{Name: "tax_category", Optional: true, Doc: "Paddle's tax category of what is sold, which must be enabled there; absent: standard"},
		},
		TestKey: "api_key", TestForm: regexp.MustCompile(`^pdl_sdbx_`),
		TestHosts: []string{"sandbox-api.paddle.com"},
		Carries: []descriptor.Carried{
			{Member: "lines", As: "items[].price.product.name", When: "with their amounts, where none is below 0 and they add up to the amount"},
		},
		ProviderData:  providerData(),
		New:           func(s descriptor.Settings) (gateway.Provider, error) { return of(s), nil },
		BrowserMarked: true,
		Books:         func(s descriptor.Settings) (gateway.Books, error) { return of(s), nil },
		Events:        func(s descriptor.Settings) (gateway.EventLog, error) { return of(s), nil },
		Lag:           findLag,
	}
}

func of(s descriptor.Settings) *Client {
	c := New(s.BaseURL, s.Params["api_key"], s.Client)
	c.TaxCategory = s.Params["tax_category"]
	return c
}

// dashboard returns the dashboard's address of a transaction
// (https://developer.paddle.com/build/transactions/create-transaction/).
func dashboard() descriptor.Dashboard {
	return descriptor.Dashboard{
		Live: "https://vendors.paddle.com/transactions-v2/{id}",
		Test: "https://sandbox-vendors.paddle.com/transactions-v2/{id}",
		Form: regexp.MustCompile(`^txn_[a-z0-9]+$`),
	}
}
