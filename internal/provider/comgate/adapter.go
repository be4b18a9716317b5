package comgate

import (
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() descriptor.Adapter {
	return descriptor.Adapter{
		Keys:       []webhooks.Key{{Name: "merchant", Doc: "Comgate's merchant"}, webhooks.SecretsKey()},
		LookupOnly: true,
		New: func(s descriptor.Settings) (gateway.Provider, error) {
			return New(s.BaseURL, s.Params["merchant"], s.Params["webhook_secret"], s.Client), nil
		},
	}
}
