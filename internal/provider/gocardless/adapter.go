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
		Keys:    []webhooks.Key{descriptor.APIKey()},
		TestKey: "api_key", TestForm: regexp.MustCompile(`^sandbox_`),
		TestHosts:  []string{"api-sandbox.gocardless.com"},
		LookupOnly: true,
		New: func(s descriptor.Settings) (gateway.Provider, error) {
			return New(s.BaseURL, s.Params["api_key"], s.Client), nil
		},
	}
}
