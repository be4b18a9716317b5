package square

import (
	"regexp"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() descriptor.Adapter {
	return descriptor.Adapter{
		Dashboard: dashboard(),
		Keys: []webhooks.Key{
			descriptor.APIKey(),
			{Name: "location_id", Optional: true, Doc: "the location that payments are of; absent: the seller's main one"},
			descriptor.MerchantID(true),
		},
		Payees:    payees,
		TestHosts: []string{"squareupsandbox.com"},
		Carries:   carried(), ProviderData: allowed(),
		New: func(s descriptor.Settings) (gateway.Provider, error) {
			return of(s), nil
		},
		Books:  func(s descriptor.Settings) (gateway.Books, error) { return of(s), nil },
		Events: func(s descriptor.Settings) (gateway.EventLog, error) { return of(s), nil },
		Lag:    findLag,
	}
}

// payees returns the seller and the location. Events name the payee by the seller, and payments name it by the location.
func payees(params map[string]string) []string {
	if params["merchant_id"] == "" {
		return nil
	}
	return slices.DeleteFunc([]string{params["merchant_id"], params["location_id"]}, func(id string) bool { return id == "" })
}

func of(s descriptor.Settings) *Client {
	c := New(s.BaseURL, s.Params["api_key"], s.Client)
	c.Location = s.Params["location_id"]
	return c
}

func carried() []descriptor.Carried {
	return []descriptor.Carried{
		{Member: "statement_descriptor", As: "statement_description_identifier"},
		{Member: "customer.reference", As: "customer_id", When: "with a card on file, which requires it: the customer at Square"},
		{Member: "customer.email", As: "buyer_email_address"},
		{Member: "customer.phone", As: "buyer_phone_number"},
		{Member: "customer.billing_address", As: "billing_address"},
		{Member: "customer.shipping_address", As: "shipping_address"},
	}
}

// dashboard returns the address in the column Details of the dashboard's transaction export.
func dashboard() descriptor.Dashboard {
	return descriptor.Dashboard{
		Live: "https://squareup.com/dashboard/sales/transactions/{id}",
		Test: "https://squareupsandbox.com/dashboard/sales/transactions/{id}",
		Form: regexp.MustCompile(`^[A-Za-z0-9_-]+$`),
	}
}
