package tbank

import (
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() descriptor.Adapter {
	return descriptor.Adapter{
		Keys:    []webhooks.Key{{Name: "terminal_key", Doc: "T-Bank's terminal"}, webhooks.SecretsKey()},
		TestKey: "terminal_key", TestForm: regexp.MustCompile(`DEMO$`),
		TestHosts: []string{"rest-api-test.tinkoff.ru"},
		New: func(s descriptor.Settings) (gateway.Provider, error) {
			return New(s.BaseURL, s.Params["terminal_key"], s.Params["webhook_secret"], s.Params["currency"], s.Client)
		},
	}
}
