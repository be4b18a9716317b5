package mollie

import (
	"context"
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() kit.Adapter {
	return kit.Adapter{
		Dashboard:      dashboard(),
		DisputeReasons: disputeReasons(),
		Keys: []webhooks.Key{kit.APIKey(), {
			Name: "profile_id", Optional: true, Doc: "Mollie's profile (pfl_…); paylatch does not count payments to another profile",
		}},
		Payees: kit.PayeesOf("profile_id"),
		Merchant: kit.Merchant{Keys: []string{"profile_id"}, Fetch: func(ctx context.Context, s kit.Settings) (string, error) {
			return of(s).profile(ctx)
		}},
		Carries: carries(), ProviderData: providerData(), Further: further(),
		Trial:   kit.Trial{Page: "redirect", ByHand: "choose the status Paid on Mollie's test page"},
		TestKey: "api_key", TestForm: regexp.MustCompile(`^test_`),
		New: func(s kit.Settings) (gateway.Provider, error) {
			return of(s), nil
		},
		Books:   func(s kit.Settings) (gateway.Books, error) { return of(s), nil },
		Overlap: settledLater,
	}
}

func of(s kit.Settings) *Client {
	return New(s.BaseURL, s.Params["api_key"], s.Params["public_url"], s.Client)
}

// carries returns the table of the members of a pay that a charge sends to the provider.
func carries() []kit.Carried {
	bill := "required for Billie, in3, Klarna and Riverty"
	return []kit.Carried{
		{Member: "return_url", As: "redirectUrl", When: "required, except for a mandate", ToApps: true}, // a mobile app's address: from memory
		{Member: "save_payment_method", As: "sequenceType", When: "as first; needs `customer.reference`, a customer of Mollie (`cst_…`)"},
		{Member: "statement_descriptor", As: "description", When: "else the order's id"},
		{Member: "customer.reference", As: "customerId", When: "with a mandate, and with save_payment_method: `cst_…`"},
		{Member: "customer.email", As: "billingAddress.email", When: bill},
		{Member: "customer.name", As: "billingAddress.familyName", When: bill},
		{Member: "customer.phone", As: "billingAddress.phone"},
		{Member: "customer.locale", As: "locale", When: "if Mollie supports it, such as de-DE"},
		{Member: "customer.billing_address", As: "billingAddress.streetAndNumber", When: bill},
		{Member: "customer.shipping_address", As: "shippingAddress.streetAndNumber"},
		{Member: "lines", As: "lines[].description", When: "required for Billie, Billink, in3, Klarna, Riverty and vouchers"},
	}
}

// dashboard returns the address that Mollie's plugins use for a payment, without the organization in _links.dashboard
// (https://docs.mollie.com/reference/get-payment). Test payments have the same address.
func dashboard() kit.Dashboard {
	return kit.Dashboard{
		Live: "https://my.mollie.com/dashboard/payments/{id}",
		Test: "https://my.mollie.com/dashboard/payments/{id}",
		Form: regexp.MustCompile(`^tr_[A-Za-z0-9]+$`),
	}
}
