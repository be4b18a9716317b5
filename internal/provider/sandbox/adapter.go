package sandbox

import (
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() descriptor.Adapter {
	return descriptor.Adapter{
		Keys: []webhooks.Key{{Name: "base_url"}},
		Carries: []descriptor.Carried{
			{Member: "return_url", As: "return_url"},
			{Member: "save_payment_method", As: "save_payment_method", When: "stores a `card_…` of the customer"},
			{Member: "initiator", As: "initiator"},
			{Member: "statement_descriptor", As: "statement_descriptor"},
			{Member: "customer.reference", As: "customer"},
			{Member: "customer.email", As: "email"},
			{Member: "customer.billing_address", As: "billing_address.line1", When: "required with `tok_billing`"},
			{Member: "lines", As: "lines[].description"},
		},
		SecondStep: "what the challenge of `tok_3ds`, `tok_3ds_form` and `tok_3ds_sdk` returned: `sandbox_result` of the page's address, or the script's object",
		New: func(s descriptor.Settings) (gateway.Provider, error) {
			return New(s.BaseURL, s.Client), nil
		},
		Books:  func(s descriptor.Settings) (gateway.Books, error) { return New(s.BaseURL, s.Client), nil },
		Events: func(s descriptor.Settings) (gateway.EventLog, error) { return New(s.BaseURL, s.Client), nil },
	}
}
