package square

import (
	"context"
	"regexp"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the adapter to the configuration.
func Adapter() kit.Adapter {
	return kit.Adapter{
		Dashboard:      dashboard(),
		DisputeReasons: disputeReasons(),
		Keys: []webhooks.Key{
			kit.APIKey(),
			{Name: "location_id", Optional: true, Doc: "Square: the location of the payments; absent: the seller's main location"},
			kit.MerchantID(true),
		},
		Payees: payees,
		Merchant: kit.Merchant{Keys: []string{"merchant_id", "location_id"}, Fetch: func(ctx context.Context, s kit.Settings) (string, error) {
			return of(s).seller(ctx)
		}},
		TestHosts: []string{"squareupsandbox.com"},
		Trial: kit.Trial{ //nolint:gosec // test tokens that everybody may use (https://developer.squareup.com/docs/devtools/sandbox/payments)
			BaseURL: "https://connect.squareupsandbox.com", Token: "cnon:card-nonce-ok", Decline: "cnon:card-nonce-declined", Currency: "USD",
		},
		Carries: carried(), ProviderData: allowed(),
		New: func(s kit.Settings) (gateway.Provider, error) {
			return of(s), nil
		},
		Books:  func(s kit.Settings) (gateway.Books, error) { return of(s), nil },
		Events: func(s kit.Settings) (gateway.EventLog, error) { return of(s), nil },
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

func of(s kit.Settings) *Client {
	c := New(s.BaseURL, s.Params["api_key"], s.Client)
	c.Location = s.Params["location_id"]
	return c
}

func carried() []kit.Carried {
	return []kit.Carried{
		{Member: "statement_descriptor", As: "statement_description_identifier"},
		{Member: "customer.reference", As: "customer_id", When: "required with a card on file: the customer's id at Square"},
		{Member: "customer.email", As: "buyer_email_address"},
		{Member: "customer.phone", As: "buyer_phone_number"},
		{Member: "customer.billing_address", As: "billing_address"},
		{Member: "customer.shipping_address", As: "shipping_address"},
	}
}

// dashboard returns the address in the column Details of the dashboard's transaction export.
func dashboard() kit.Dashboard {
	return kit.Dashboard{
		Live: "https://squareup.com/dashboard/sales/transactions/{id}",
		Test: "https://squareupsandbox.com/dashboard/sales/transactions/{id}",
		Form: regexp.MustCompile(`^[A-Za-z0-9_-]+$`),
	}
}
