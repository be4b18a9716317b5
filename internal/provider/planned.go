package provider

import (
	"regexp"

	"github.com/paylatch/paylatch/internal/provider/descriptor"
	"github.com/paylatch/paylatch/webhooks"
)

// planned describes the kinds that accept webhooks and have no adapter yet.
func planned() map[string]descriptor.Adapter {
	return map[string]descriptor.Adapter{
		"braintree": {
			Keys:      []webhooks.Key{{Name: "merchant_id", Doc: "Braintree's merchant"}, {Name: "public_key", Doc: "Braintree's public key"}, webhooks.SecretsKey()},
			TestHosts: []string{"sandbox.braintreegateway.com"},
			// As Braintree's plugin of WooCommerce links it (get_transaction_url).
			Dashboard: descriptor.Dashboard{
				Live: "https://www.braintreegateway.com/merchants/{merchant_id}/transactions/{id}",
				Test: "https://sandbox.braintreegateway.com/merchants/{merchant_id}/transactions/{id}",
				Form: regexp.MustCompile(`^[a-z0-9]+$`),
			},
		},
		"robokassa": {
			Keys: []webhooks.Key{{Name: "merchant_login", Doc: "Robokassa's shop"}, webhooks.SecretsKey()},
		},
	}
}
