package config

import (
	"strings"

	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// PaymentPage returns the address of a payment in its provider's dashboard, by the provider's ids of the payment and of its
// first capture. It returns an empty text if there is no such page.
func (c *Config) PaymentPage(account, payment, capture string) string {
	for _, a := range c.Accounts {
		if a.Name == account {
			return provider.Kinds()[a.Kind].Adapter.Page(kit.Settings{BaseURL: a.BaseURL, Params: a.Credentials()}, payment, capture)
		}
	}
	return ""
}

// SupportFacts returns how long a refund takes at an account's provider, and the provider's codes of disputes in words; zero if
// the provider documents none.
func (c *Config) SupportFacts(account string) (kit.RefundTime, map[string]string) {
	for _, a := range c.Accounts {
		if a.Name == account {
			of := provider.Kinds()[a.Kind].Adapter
			return of.RefundTime, of.DisputeReasons
		}
	}
	return kit.RefundTime{}, nil
}

// PublicConsole is the console's address as browsers see it, without a path; empty if the configuration does not have it.
func (c *Config) PublicConsole() string {
	base, found := strings.CutSuffix(c.Console.OIDC.RedirectURL, callback)
	if !found {
		return ""
	}
	return base
}
