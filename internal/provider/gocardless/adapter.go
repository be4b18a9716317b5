package gocardless

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
		Keys:      []webhooks.Key{descriptor.APIKey()},
		TestKey:   "api_key", TestForm: regexp.MustCompile(`^sandbox_`),
		TestHosts:  []string{"api-sandbox.gocardless.com"},
		LookupOnly: true,
		New:        func(s descriptor.Settings) (gateway.Provider, error) { return of(s), nil },
		Books:      func(s descriptor.Settings) (gateway.Books, error) { return of(s), nil },
		Events:     func(s descriptor.Settings) (gateway.EventLog, error) { return of(s), nil },
	}
}

func of(s descriptor.Settings) *Client { return New(s.BaseURL, s.Params["api_key"], s.Client) }

// dashboard is the address that GoCardless's plugin of WooCommerce links (get_transaction_url_format,
// https://github.com/gocardless/woocommerce-gateway-gocardless).
func dashboard() descriptor.Dashboard {
	return descriptor.Dashboard{
		Live: "https://manage.gocardless.com/payments/{id}",
		Test: "https://manage-sandbox.gocardless.com/payments/{id}",
		Form: regexp.MustCompile(`^PM[A-Z0-9]+$`),
	}
}
