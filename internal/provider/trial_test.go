package provider_test

import (
	"maps"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/redact"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// TestTrials: each kind describes how a test payment is made, and its adapter accepts the payment as `paylatch init --try` makes it.
func TestTrials(t *testing.T) {
	t.Parallel()
	for _, kind := range provider.Callable() {
		a := provider.Adapters()[kind]
		trial := a.Trial
		require.False(t, trial.Token != "" && trial.Page != "", kind)
		require.Equal(t, trial.Token == "", trial.ByHand != "", "%s: an instruction where a person is needed", kind)
		if trial.BaseURL != "" {
			require.True(t, a.Tests(kit.Settings{BaseURL: trial.BaseURL}), kind)
		}
		if value, has := trial.Params[a.TestKey]; has {
			require.Regexp(t, a.TestForm, value, kind)
		}
		token := trial.Token + trial.Page
		if token == "" {
			continue
		}
		for _, published := range []string{token, trial.Decline, trial.Challenge} {
			require.False(t, redact.CardNumberIn(published), "%s: the API refuses card numbers", kind)
		}
		params := map[string]string{"webhook_secret": "secret", "currency": trial.Currency, "store_currency": "EUR", "api_key": "key"}
		maps.Copy(params, trial.Params)
		p, err := provider.New(kind, kit.Settings{BaseURL: "http://127.0.0.1:1", Params: params})
		require.NoError(t, err, kind)
		c := gateway.Charge{
			Details: gateway.Details{Token: token, Customer: gateway.Customer{Reference: "test-customer"}},
			Attempt: payment.AttemptID(uuid.New()), Order: "init-1", Money: payment.Money{Minor: 1999, Currency: "EUR"}, Capture: payment.CaptureAutomatic,
		}
		if trial.Currency != "" {
			c.Money.Currency = payment.Currency(trial.Currency)
		}
		if trial.Page != "" {
			c.ReturnURL, c.Customer.Email, c.Customer.Name = "https://shop.example/paid", "customer@shop.example", "Test Customer"
		}
		for _, published := range []string{token, trial.Decline, trial.Challenge} {
			if published == "" {
				continue
			}
			if c.Token = published; published == trial.Challenge {
				c.ReturnURL = "https://shop.example/paid"
			}
			require.NoError(t, p.Accepts(c), kind)
			require.NoError(t, c.Fits(p.TokenKind(published)), kind)
		}
	}
}
