package gopay

import (
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() kit.Adapter {
	return kit.Adapter{
		Keys:      append(kit.OAuth(), webhooks.Key{Name: "goid", Doc: "GoPay's merchant"}),
		Absent:    "3999999999",
		TestHosts: []string{"gw.sandbox.gopay.com"},
		Carries:   carried(), ProviderData: providerData(),
		Payees:   kit.PayeesOf("goid"),
		Merchant: kit.Merchant{Keys: []string{"goid"}},
		Trial: kit.Trial{
			BaseURL: "https://gw.sandbox.gopay.com", Page: "redirect", Currency: "CZK",
			ByHand: "pay with one of GoPay's test cards",
		},
		New: func(s kit.Settings) (gateway.Provider, error) {
			c := New(s.BaseURL, s.Params["client_id"], s.Params["client_secret"], s.Params["goid"], s.Client, s.Now)
			c.Notify = s.Params["public_url"]
			return c, nil
		},
	}
}

func carried() []kit.Carried {
	const onPage = "on GoPay's page"
	return []kit.Carried{
		{Member: "save_payment_method", As: "recurrence.recurrence_cycle", When: "as ON_DEMAND, of a card; needs `customer.reference`"},
		{Member: "return_url", As: "callback.return_url", When: "required, except for a saved card"},
		{Member: "statement_descriptor", As: "order_description", When: "else the order's id"},
		{Member: "customer.reference", As: "additional_params[].value", When: "to save a card: the customer who owns the card"},
		{Member: "customer.email", As: "payer.contact.email", When: "required, except for a saved card"},
		{Member: "customer.name", As: "payer.contact.last_name", When: onPage},
		{Member: "customer.phone", As: "payer.contact.phone_number", When: onPage},
		{Member: "customer.locale", As: "lang", When: onPage + ", if the page supports the language"},
		{Member: "customer.billing_address", As: "payer.contact.street", When: onPage + ", without the country"},
		{Member: "lines", As: "items[].name", When: "else the order's id"},
	}
}
