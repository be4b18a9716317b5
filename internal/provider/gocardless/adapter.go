package gocardless

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
		Keys: []webhooks.Key{kit.APIKey(), {
			Name: "organisation", Optional: true, Doc: "GoCardless's organisation (OR…); paylatch does not count payments to another organisation",
		}},
		Payees:   kit.PayeesOf("organisation"),
		Merchant: kit.Merchant{Keys: []string{"organisation"}},
		TestKey:  "api_key", TestForm: regexp.MustCompile(`^sandbox_`),
		TestHosts: []string{"api-sandbox.gocardless.com"},
		Trial: kit.Trial{
			Page:   "redirect",
			ByHand: "authorise the payment with the sandbox's bank details; a debit takes days; a scenario simulator in the dashboard makes it faster",
		},
		Carries: carries(), ProviderData: providerData(),
		New:    func(s kit.Settings) (gateway.Provider, error) { return of(s), nil },
		Books:  func(s kit.Settings) (gateway.Books, error) { return of(s), nil },
		Events: func(s kit.Settings) (gateway.EventLog, error) { return of(s), nil },
	}
}

func of(s kit.Settings) *Client { return New(s.BaseURL, s.Params["api_key"], s.Client) }

// carries returns the table of the members of a pay that a charge sends to the provider.
func carries() []kit.Carried {
	const page, shown = "without a mandate", "without a mandate; the customer may change it"
	const person = "billing_request_flows.prefilled_customer."
	return []kit.Carried{
		{Member: "return_url", As: "billing_request_flows.redirect_uri", When: page + "; also as exit_uri"},
		{Member: "save_payment_method", As: "billing_requests.mandate_request.currency", When: page + ": GoCardless makes a mandate together with the payment"},
		{Member: "statement_descriptor", As: "payments.description", When: "else the order's id"},
		{Member: "statement_descriptor", As: "billing_requests.payment_request.description", When: page + "; else the order's id"},
		{Member: "customer.reference", As: "billing_requests.mandate_request.metadata.customer_reference", When: "with save_payment_method, which requires it"},
		{Member: "customer.reference", As: "billing_requests.links.customer", When: page + ", if it is a customer of GoCardless (`CU…`)"},
		{Member: "customer.email", As: person + "email", When: shown},
		{Member: "customer.name", As: person + "family_name", When: shown + "; with a blank, between the given and the family name"},
		{Member: "customer.locale", As: "billing_request_flows.language", When: "without a mandate, if GoCardless supports the language"},
		{Member: "customer.billing_address", As: person + "address_line1", When: shown},
	}
}

// dashboard returns the address that GoCardless's WooCommerce plugin uses for a payment (get_transaction_url_format,
// https://github.com/gocardless/woocommerce-gateway-gocardless).
func dashboard() kit.Dashboard {
	return kit.Dashboard{
		Live: "https://manage.gocardless.com/payments/{id}",
		Test: "https://manage-sandbox.gocardless.com/payments/{id}",
		Form: regexp.MustCompile(`^PM[A-Z0-9]+$`),
	}
}
