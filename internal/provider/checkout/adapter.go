package checkout

import (
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() kit.Adapter {
	return kit.Adapter{
		Dashboard:      dashboard(),
		DisputeReasons: kit.CardReasons(),
		Absent:         "pay_00000000000000000000000000",
		Keys: []webhooks.Key{
			kit.APIKey(), {Name: "processing_channel_id", Optional: true, Doc: "Checkout.com's processing channel (pc_…); absent: the key's default"},
		},
		Payees: func(params map[string]string) []string {
			if params["processing_channel_id"] == "" {
				return nil
			}
			return []string{params["processing_channel_id"]}
		},
		Merchant: kit.Merchant{Keys: []string{"processing_channel_id"}},
		TestKey:  "api_key", TestForm: regexp.MustCompile(`^sk_(sbox|test)_`),
		TestHosts: []string{"sandbox.checkout.com"},
		Carries:   carries(), ProviderData: providerData(), Further: further(),
		Trial: kit.Trial{
			ByHand: "make a token (tok_…) of one of Checkout.com's test cards with Frames or Flow, and give it to paylatch init --try --token",
		},
		New: func(s kit.Settings) (gateway.Provider, error) {
			return of(s), nil
		},
		Books:     func(s kit.Settings) (gateway.Books, error) { return of(s), nil },
		Statement: Statement,
	}
}

func of(s kit.Settings) *Client {
	c := New(s.BaseURL, s.Params["api_key"], s.Client)
	c.Channel, c.Now = s.Params["processing_channel_id"], s.Now
	return c
}

// carries returns the table of the members of a pay that a charge sends to the provider. Checkout.com's own page collects the browser data
// for 3-D Secure.
func carries() []kit.Carried {
	fresh := "with a token (`tok_…`)"
	return []kit.Carried{
		{Member: "return_url", As: "success_url", When: "turns 3-D Secure on; also as failure_url; required with `flow` and a local method"},
		{Member: "save_payment_method", As: "source.store_for_future_use", When: "needs `customer.reference`, a customer of Checkout.com (`cus_…`)"},
		{Member: "initiator", As: "merchant_initiated", When: "with payment_type Unscheduled; previous_payment_id is one of provider_data"},
		{Member: "statement_descriptor", As: "billing_descriptor.name", When: "with provider_data.billing_descriptor, which has the city that Checkout.com requires"},
		{Member: "customer.reference", As: "customer.id", When: "with a stored instrument, and with save_payment_method: `cus_…`"},
		{Member: "customer.email", As: "customer.email", When: "except with a stored instrument"},
		{Member: "customer.name", As: "customer.name", When: "with an email"},
		{Member: "customer.name", As: "source.account_holder_name", When: "required with `bancontact`"},
		{Member: "customer.ip", As: "payment_ip", When: "except with `flow`"},
		{Member: "customer.billing_address", As: "source.billing_address.address_line1", When: fresh},
		{Member: "customer.billing_address", As: "billing.address.address_line1", When: "required with `flow`"},
		{Member: "customer.shipping_address", As: "shipping.address.address_line1"},
		{Member: "lines", As: "items[].name", When: "without discounts; required with `paypal`"},
	}
}

// dashboard returns the address that Checkout.com's support gives for a payment that the search does not find
// (https://support.checkout.com). The sandbox's address is not documented.
func dashboard() kit.Dashboard {
	return kit.Dashboard{
		Live: "https://dashboard.checkout.com/payments/all-payments/payment/{id}",
		Form: regexp.MustCompile(`^pay_[a-z0-9]+$`),
	}
}
