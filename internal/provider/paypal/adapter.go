package paypal

import (
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
)

// Adapter describes the adapter to the configuration.
func Adapter() descriptor.Adapter {
	return descriptor.Adapter{
		Keys:      descriptor.OAuth(),
		TestHosts: []string{"sandbox.paypal.com"},
		New: func(s descriptor.Settings) (gateway.Provider, error) {
			return New(s.BaseURL, s.Params["client_id"], s.Params["client_secret"], s.Client, s.Now), nil
		},
	}
}
