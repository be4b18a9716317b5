// Package paddle calls Paddle Billing, a merchant of record. See https://developer.paddle.com/api-reference/. A
// transaction consists of items that are in no catalogue. The customer pays it in Paddle's checkout.
//
// A charge is never made twice. It is sent once, and a transaction takes no money before its customer pays it.
package paddle

import (
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() kit.Adapter {
	return kit.Adapter{
		Dashboard: dashboard(),
		Absent:    "txn_00000000000000000000000000",
		Keys: []webhooks.Key{
			kit.APIKey(),
			{Name: "tax_category", Optional: true, Doc: "Paddle's tax category of the goods, which must be enabled there; absent: standard"},
		},
		TestKey: "api_key", TestForm: regexp.MustCompile(`^pdl_sdbx_`),
		TestHosts: []string{"sandbox-api.paddle.com"},
		Trial: kit.Trial{
			Page: "redirect", Currency: "USD",
			ByHand: "pay with one of Paddle's test cards; the account needs a default payment link",
		},
		Carries: []kit.Carried{
			{Member: "lines", As: "items[].price.product.name", When: "with their amounts, if no amount is below 0 and their sum is the order's amount"},
		},
		ProviderData: providerData(),
		New:          func(s kit.Settings) (gateway.Provider, error) { return of(s), nil },
		Marks:        gateway.MarksByBrowser,
		Books:        func(s kit.Settings) (gateway.Books, error) { return of(s), nil },
		Events:       func(s kit.Settings) (gateway.EventLog, error) { return of(s), nil },
		Lag:          findLag,
	}
}

func of(s kit.Settings) *Client {
	c := New(s.BaseURL, s.Params["api_key"], s.Client)
	c.TaxCategory = s.Params["tax_category"]
	return c
}

// dashboard returns the dashboard's address of a transaction
// (https://developer.paddle.com/build/transactions/create-transaction/).
func dashboard() kit.Dashboard {
	return kit.Dashboard{
		Live: "https://vendors.paddle.com/transactions-v2/{id}",
		Test: "https://sandbox-vendors.paddle.com/transactions-v2/{id}",
		Form: regexp.MustCompile(`^txn_[a-z0-9]+$`),
	}
}
