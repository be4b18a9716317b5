// Package paddle reads the events of Paddle Billing (https://developer.paddle.com/api-reference/). It calls
// nothing about a payment: those are made by Paddle's own checkout.
package paddle

import (
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() descriptor.Adapter {
	return descriptor.Adapter{
		Dashboard: dashboard(),
		Keys:      []webhooks.Key{descriptor.APIKey()},
		TestKey:   "api_key", TestForm: regexp.MustCompile(`^pdl_sdbx_`),
		TestHosts: []string{"sandbox-api.paddle.com"},
		Events: func(s descriptor.Settings) (gateway.EventLog, error) {
			return New(s.BaseURL, s.Params["api_key"], s.Client), nil
		},
	}
}

// dashboard is the address that the dashboard has for a transaction's details (https://developer.paddle.com/build/transactions/create-transaction/).
func dashboard() descriptor.Dashboard {
	return descriptor.Dashboard{
		Live: "https://vendors.paddle.com/transactions-v2/{id}",
		Test: "https://sandbox-vendors.paddle.com/transactions-v2/{id}",
		Form: regexp.MustCompile(`^txn_[a-z0-9]+$`),
	}
}
