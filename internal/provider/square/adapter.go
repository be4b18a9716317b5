package square

import (
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() descriptor.Adapter {
	return descriptor.Adapter{
		Keys: []webhooks.Key{
			descriptor.APIKey(), {Name: "location_id", Optional: true, Doc: "the location that payments are of; absent: the seller's main one"},
		},
		TestHosts: []string{"squareupsandbox.com"},
		New: func(s descriptor.Settings) (gateway.Provider, error) {
			c := New(s.BaseURL, s.Params["api_key"], s.Client)
			c.Location = s.Params["location_id"]
			return c, nil
		},
	}
}
