package provider_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/provider"
)

func TestEveryKindHasAnAdapter(t *testing.T) {
	t.Parallel()
	require.Subset(t, provider.Kinds(), []string{
		"adyen", "checkout", "cloudpayments", "mollie", "paypal", "razorpay", "sandbox", "square", "stripe", "tbank", "yookassa",
	})
	for _, kind := range provider.Kinds() {
		p, err := provider.New(kind, provider.Settings{
			BaseURL: "http://127.0.0.1:1", APIKey: "key", Client: provider.NewHTTPClient(), Params: map[string]string{"webhook_secret": "secret"},
		})
		require.NoError(t, err, kind)
		require.NotNil(t, p, kind)
	}
	_, err := provider.New("nobody", provider.Settings{})
	require.ErrorIs(t, err, provider.ErrNoAdapter)
}
