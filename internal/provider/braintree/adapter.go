package braintree

import (
	"fmt"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() kit.Adapter {
	return kit.Adapter{
		Dashboard:      dashboard(),
		DisputeReasons: disputeReasons(),
		Keys: []webhooks.Key{
			kit.MerchantID(false),
			{Name: "public_key", Doc: "Braintree's public key"},
			webhooks.SecretsKey(), webhooks.CurrencyKey(),
			{Name: "merchant_account_id", Optional: true, Doc: "Braintree's merchant account in this currency; absent: the default one"},
			{Name: "api_request_keys", Optional: true, OneOf: []string{on, off}, Doc: "Braintree: off if Braintree refuses requests with error 915231; paylatch then sends a charge once, and searches for it"},
		},
		Payees: func(params map[string]string) []string {
			if params["merchant_account_id"] == "" {
				return nil
			}
			return []string{params["merchant_account_id"]}
		},
		Absent:    "nosuch00",
		Merchant:  kit.Merchant{Keys: []string{"merchant_id"}},
		TestHosts: []string{"sandbox.braintreegateway.com"},
		Trial: kit.Trial{ //nolint:gosec // test tokens that everybody may use (https://developer.paypal.com/braintree/docs/reference/general/testing)
			BaseURL: "https://api.sandbox.braintreegateway.com", Token: "fake-valid-nonce", Decline: "fake-processor-declined-visa-nonce", Currency: "USD", Unannounced: true,
		},
		Carries: carries(), ProviderData: providerData(),
		New:   func(s kit.Settings) (gateway.Provider, error) { return of(s) },
		Books: func(s kit.Settings) (gateway.Books, error) { return of(s) },
		Lag:   booksLag,
	}
}

const on, off = "on", "off"

// of returns the client of an account. The API's private key is the first secret of the webhooks. The matching public
// key is the first public key in the list.
func of(s kit.Settings) (*Client, error) {
	public, _, _ := strings.Cut(s.Params["public_key"], ",")
	c := New(s.BaseURL, s.Params["merchant_id"], strings.TrimSpace(public), s.Params["webhook_secret"], s.Client)
	c.Currency, c.MerchantAccount = payment.Currency(s.Params["currency"]), s.Params["merchant_account_id"]
	switch keys := s.Params["api_request_keys"]; keys {
	case "", on:
	case off:
		c.Keyless = true
	default:
		return nil, fmt.Errorf("%w: api_request_keys %q is neither on nor off", webhooks.ErrConfig, keys)
	}
	return c, nil
}

func carries() []kit.Carried {
	const fresh = "of a nonce that is not stored"
	return []kit.Carried{
		{Member: "save_payment_method", As: "transaction.options.store_in_vault_on_success", When: "with a nonce; needs `customer.reference`, and creates this customer in the vault"},
		{Member: "initiator", As: "transaction.transaction_source", When: "as `unscheduled`, unless provider_data has another value"},
		{Member: "statement_descriptor", As: "transaction.descriptor.name", When: "in Braintree's form: `SHOP123*TICKET`"},
		{Member: "customer.reference", As: "transaction.customer_id", When: "with a vaulted method, and with save_payment_method; only letters, digits, `-` and `_`, as far as we remember"},
		{Member: "customer.email", As: "transaction.customer.email", When: fresh + "; otherwise for the new customer in the vault"},
		{Member: "customer.phone", As: "transaction.customer.phone", When: fresh + "; otherwise for the new customer in the vault"},
		{Member: "customer.ip", As: "transaction.risk_data.customer_ip"},
		{Member: "browser", As: "transaction.risk_data.customer_browser", When: "only the user agent"},
		{Member: "customer.billing_address", As: "transaction.billing.street_address"},
		{Member: "customer.shipping_address", As: "transaction.shipping.street_address"},
	}
}

// dashboard returns the address that Braintree's WooCommerce plugin uses for a transaction (get_transaction_url).
func dashboard() kit.Dashboard {
	return kit.Dashboard{
		Live: "https://www.braintreegateway.com/merchants/{merchant_id}/transactions/{id}",
		Test: "https://sandbox.braintreegateway.com/merchants/{merchant_id}/transactions/{id}",
		Form: idForm,
	}
}
