package checkout

import (
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() descriptor.Adapter {
	return descriptor.Adapter{
		Keys: []webhooks.Key{
			descriptor.APIKey(), {Name: "processing_channel_id", Optional: true, Doc: "pc_…, the channel that payments are processed by; absent: the account's default"},
		},
		TestKey: "api_key", TestForm: regexp.MustCompile(`^sk_(sbox|test)_`),
		TestHosts: []string{"sandbox.checkout.com"},
		New: func(s descriptor.Settings) (gateway.Provider, error) {
			c := New(s.BaseURL, s.Params["api_key"], s.Client)
			c.Channel = s.Params["processing_channel_id"]
			return c, nil
		},
	}
}
