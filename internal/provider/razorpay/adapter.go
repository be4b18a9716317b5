package razorpay

import (
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() descriptor.Adapter {
	return descriptor.Adapter{
		Keys:    []webhooks.Key{{Name: "key_id", Doc: "Razorpay's key"}, {Name: "key_secret", Secret: true, Doc: "Razorpay's secret"}},
		TestKey: "key_id", TestForm: regexp.MustCompile(`^rzp_test_`),
		New: func(s descriptor.Settings) (gateway.Provider, error) {
			return New(s.BaseURL, s.Params["key_id"], s.Params["key_secret"], s.Client), nil
		},
	}
}
