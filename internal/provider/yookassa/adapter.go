package yookassa

import (
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() descriptor.Adapter {
	return descriptor.Adapter{
		Keys:    []webhooks.Key{{Name: "shop_id", Doc: "YooKassa's shop"}, descriptor.APIKey()},
		TestKey: "api_key", TestForm: regexp.MustCompile(`^test_`),
		New: func(s descriptor.Settings) (gateway.Provider, error) {
			return New(s.BaseURL, s.Params["shop_id"], s.Params["api_key"], s.Client), nil
		},
	}
}
