package gopay

import (
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() descriptor.Adapter {
	return descriptor.Adapter{
		Keys:       append(descriptor.OAuth(), webhooks.Key{Name: "goid", Doc: "GoPay's merchant"}),
		TestHosts:  []string{"gw.sandbox.gopay.com"},
		LookupOnly: true,
		New: func(s descriptor.Settings) (gateway.Provider, error) {
			return New(s.BaseURL, s.Params["client_id"], s.Params["client_secret"], s.Params["goid"], s.Client, s.Now), nil
		},
	}
}
