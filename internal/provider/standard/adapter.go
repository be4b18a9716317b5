package standard

import (
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// These are the values of the account's key lists.
const (
	listEvents  = "events"
	listBalance = "balance"
	listBoth    = "both"
)

// Adapter describes the adapter to the configuration. An account without base_url and api_key only receives webhooks.
// The account's money counts as real unless the address is a loopback address, which is refused in live mode.
func Adapter() kit.Adapter {
	api, lists := kit.APIKey(), webhooks.Key{
		Name: "lists", OneOf: []string{listEvents, listBalance, listBoth}, Optional: true,
		Doc: "the provider's lists for backfill and reconciliation: events, balance or both; absent: none",
	}
	payee := webhooks.Key{Name: "payee", Optional: true, Doc: "the provider's id of the account, which charges and events may have as payee; paylatch does not count payments to another payee"}
	return kit.Adapter{
		Keys:      []webhooks.Key{{Name: "base_url"}, api, lists, payee},
		Payees:    kit.PayeesOf(payee.Name),
		Merchant:  kit.Merchant{Keys: []string{payee.Name}},
		TestHosts: []string{"localhost", "127.0.0.1", "::1"},
		Trial:     kit.Trial{ByHand: "give paylatch init --try --token a test token of your provider"},
		Carries: []kit.Carried{
			{Member: "return_url", As: "return_url", ToApps: true},
			{Member: "save_payment_method", As: "save_payment_method", When: "stores a `card_…` of the customer"},
			{Member: "initiator", As: "initiator"},
			{Member: "statement_descriptor", As: "statement_descriptor"},
			{Member: "customer.reference", As: "customer"},
			{Member: "customer.email", As: "email"},
			{Member: "customer.billing_address", As: "billing_address.line1"},
			{Member: "lines", As: "lines[].description"},
		},
		SecondStep: "any object that the provider's page or script returned: it is sent as `details`",
		New: func(s kit.Settings) (gateway.Provider, error) {
			return of(s), nil
		},
		Books: func(s kit.Settings) (gateway.Books, error) {
			if s.Params["lists"] == listBalance || s.Params["lists"] == listBoth {
				return of(s), nil
			}
			return nil, nil //nolint:nilnil // this account's provider has no such list
		},
		Events: func(s kit.Settings) (gateway.EventLog, error) {
			if s.Params["lists"] == listEvents || s.Params["lists"] == listBoth {
				return of(s), nil
			}
			return nil, nil //nolint:nilnil // this account's provider has no such list
		},
	}
}

func of(s kit.Settings) *Client {
	return New(s.BaseURL, s.Params["api_key"], s.Client)
}
