package comgate

import (
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() kit.Adapter {
	return kit.Adapter{
		Keys: []webhooks.Key{
			{Name: "merchant", Doc: "Comgate's merchant"},
			webhooks.SecretsKey(),
			kit.TestPayments(),
		},
		Absent:  "NONE-0000-0000",
		TestKey: "test_payments", TestForm: regexp.MustCompile(`^true$`),
		Trial: kit.Trial{
			Params: map[string]string{"test_payments": "true"}, Page: "redirect", Currency: "CZK",
			ByHand: "choose the paid result on Comgate's test page",
		},
		Carries: carries(), ProviderData: providerData(),
		Payees:   kit.PayeesOf("merchant"),
		Merchant: kit.Merchant{Keys: []string{"merchant"}},
		New:      func(s kit.Settings) (gateway.Provider, error) { return of(s), nil },
		Marks:    gateway.MarksByBrowser,
		Books: func(s kit.Settings) (gateway.Books, error) {
			if c := of(s); !c.Test {
				return c, nil
			}
			return nil, nil //nolint:nilnil // test payments are never transferred
		},
		Lag: transferredLater,
	}
}

func of(s kit.Settings) *Client {
	c := New(s.BaseURL, s.Params["merchant"], s.Params["webhook_secret"], s.Client)
	c.Test, c.Now, c.AwaitsCustomer = s.Params["test_payments"] == "true", s.Now, s.AwaitsCustomer
	return c
}

// carries returns the table of the members of a pay that a charge sends to the provider.
func carries() []kit.Carried {
	const page = "on Comgate's page"
	return []kit.Carried{
		{Member: "return_url", As: "url_paid", When: page + "; also as url_cancelled and url_pending"},
		{Member: "save_payment_method", As: "initRecurring", When: page + "; needs a contract for recurring payments"},
		{Member: "statement_descriptor", As: "label", When: "its first 16 characters; without it the first 16 characters of the order's id"},
		{Member: "customer.reference", As: "payerId", When: "required with save_payment_method; sent after `recurring:`"},
		{Member: "customer.email", As: "email", When: "required"},
		{Member: "customer.locale", As: "lang", When: page + ", if Comgate supports the language"},
		{Member: "customer.billing_address", As: "country", When: "only the country, unless provider_data has a country; the country chooses the methods of the page; without it ALL"},
	}
}
