package stripe

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
		RefundTime:     refundTime(),
		DisputeReasons: disputeReasons(),
		Keys: []webhooks.Key{kit.APIKey(), {
			Name: "account", Optional: true,
			Doc: "Stripe: the account that is paid (`acct_…`): the account of api_key, if its events arrive through the endpoint of a platform, or a connected account with `connect`; paylatch does not count payments to other connected accounts",
		}, {
			Name: "connect", Optional: true, OneOf: []string{direct}, With: "account",
			Doc: "Stripe Connect: `direct` if api_key is a platform's and `account` is a connected account: each request has the header `Stripe-Account`, and payments are direct charges",
		}},
		// An event of the endpoint's own account names no account.
		Payees: func(params map[string]string) []string { return []string{params["account"]} },
		Merchant: kit.Merchant{Keys: []string{"account"}, Fetch: func(ctx context.Context, s kit.Settings) (string, error) {
			return of(s).account(ctx)
		}},
		TestKey: "api_key", TestForm: regexp.MustCompile(`^(sk|rk)_test_`),
		Carries: carries(), ProviderData: providerData(), Further: further(),
		Trial: kit.Trial{ //nolint:gosec // test tokens that everybody may use (https://docs.stripe.com/testing)
			Token: "pm_card_visa", Decline: "pm_card_visa_chargeDeclined", Challenge: "pm_card_authenticationRequired",
			Tunnel: "stripe listen --forward-to {endpoint}",
		},
		SecondStep: "any object, such as `{}`, after Stripe.js has handled the next action: paylatch looks up the payment, and confirms it if it waits for a confirmation; the details are not sent",
		New: func(s kit.Settings) (gateway.Provider, error) {
			return of(s), nil
		},
		Books:   func(s kit.Settings) (gateway.Books, error) { return of(s), nil },
		Overlap: debitedLater,
		Events:  func(s kit.Settings) (gateway.EventLog, error) { return of(s), nil },
	}
}

// direct is the value of connect for direct charges.
const direct = "direct"

func of(s kit.Settings) *Client {
	c := New(s.BaseURL, s.Params["api_key"], s.Client)
	if s.Params["connect"] == direct {
		return c.Connected(s.Params["account"])
	}
	return c
}

// carries returns the table of the members of a pay that a charge sends to the provider.
func carries() []kit.Carried {
	bill := "with a card's token (`tok_…`) and `klarna`; other tokens already contain it"
	debit := "with a type of a bank debit, or a stored wallet, and a browser"
	return []kit.Carried{
		{Member: "payment_method.type", As: "statement_descriptor", When: "decides whether the descriptor is a card's descriptor, and whether a mandate is accepted"},
		{Member: "return_url", As: "return_url", ToApps: true}, // "alternatively supply an application URI scheme" (https://docs.stripe.com/api/payment_intents/create)
		{Member: "save_payment_method", As: "setup_future_usage", When: "needs `customer.reference`, a customer of Stripe (`cus_…`)"},
		{Member: "initiator", As: "off_session"},
		{Member: "statement_descriptor", As: "statement_descriptor_suffix", When: "for a card; for another type as `statement_descriptor`"},
		{Member: "customer.reference", As: "customer", When: "with a stored method, and with save_payment_method: `cus_…`"},
		{Member: "customer.email", As: "receipt_email", When: "live: Stripe sends a receipt to it"},
		{Member: "customer.name", As: "payment_method_data.billing_details.name", When: bill},
		{Member: "customer.name", As: "shipping.name"},
		{Member: "customer.phone", As: "payment_method_data.billing_details.phone", When: bill},
		{Member: "customer.phone", As: "shipping.phone"},
		{Member: "customer.ip", As: "mandate_data.customer_acceptance.online.ip_address", When: debit},
		{Member: "browser", As: "mandate_data.customer_acceptance.online.user_agent", When: debit},
		{Member: "customer.billing_address", As: "payment_method_data.billing_details.address.line1", When: bill},
		{Member: "customer.shipping_address", As: "shipping.address.line1", When: "with a name and a first line"},
		{Member: "lines", As: "amount_details.line_items[].product_name", When: "up to 200; discounts as their sum, taxes within the prices; required with `klarna`"},
	}
}

// dashboard returns the address that Stripe's WooCommerce plugin uses for a payment (get_transaction_url,
// https://github.com/woocommerce/woocommerce-gateway-stripe).
func dashboard() kit.Dashboard {
	return kit.Dashboard{
		Live: "https://dashboard.stripe.com/payments/{id}",
		Test: "https://dashboard.stripe.com/test/payments/{id}",
		Form: regexp.MustCompile(`^(pi|ch|py)_[A-Za-z0-9]+$`),
	}
}
