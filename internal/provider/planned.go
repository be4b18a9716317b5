package provider

import (
	"github.com/paylatch/paylatch/internal/provider/descriptor"
	"github.com/paylatch/paylatch/webhooks"
)

// planned describes the kinds that accept webhooks and have no adapter yet.
func planned() map[string]descriptor.Adapter {
	return map[string]descriptor.Adapter{
		"robokassa": {
			Keys: []webhooks.Key{{Name: "merchant_login", Doc: "Robokassa's shop"}, webhooks.SecretsKey()},
		},
	}
}
