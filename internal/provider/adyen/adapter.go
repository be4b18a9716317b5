package adyen

import (
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() descriptor.Adapter {
	return descriptor.Adapter{
		Keys:          []webhooks.Key{descriptor.APIKey(), {Name: "merchant_account", Doc: "Adyen's merchant account"}},
		TestHosts:     []string{"checkout-test.adyen.com", "pal-test.adyen.com"},
		TestByDefault: true,
		New: func(s descriptor.Settings) (gateway.Provider, error) {
			return New(Account{
				Base: s.BaseURL, Key: s.Params["api_key"], Merchant: s.Params["merchant_account"], Capture: s.Params["capture"],
			}, s.Client), nil
		},
	}
}
