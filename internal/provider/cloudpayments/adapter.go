package cloudpayments

import (
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() descriptor.Adapter {
	return descriptor.Adapter{
		Keys:    []webhooks.Key{{Name: "public_id", Doc: "CloudPayments' public id"}, webhooks.SecretsKey()},
		TestKey: "public_id", TestForm: regexp.MustCompile(`^test_api_`),
		New: func(s descriptor.Settings) (gateway.Provider, error) {
			return New(s.BaseURL, s.Params["public_id"], s.Params["webhook_secret"], s.Client), nil
		},
	}
}
