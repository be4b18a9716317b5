package webhooks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

func TestStripeAmountIsTheInverseOfStripeMoney(t *testing.T) {
	t.Parallel()
	for currency, amount := range map[string]int64{"EUR": 1200, "JPY": 1200, "KWD": 1200, "ISK": 120000, "UGX": 120000, "MGA": 12, "XTS": 1200} {
		money := webhooks.Money{Minor: 1200, Currency: currency}
		got, err := webhooks.StripeAmount(money)
		require.NoError(t, err)
		require.Equal(t, amount, got, currency)
		back, err := webhooks.StripeMoney(got, currency)
		require.NoError(t, err)
		require.Equal(t, money, back)
	}
	_, err := webhooks.StripeAmount(webhooks.Money{Minor: 1250, Currency: "MGA"})
	require.ErrorIs(t, err, webhooks.ErrPayload)
	_, err = webhooks.StripeMoney(1250, "isk")
	require.ErrorIs(t, err, webhooks.ErrPayload)
}

func TestStripeCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ errorType, code, decline, ours, stripes string }{
		{"card_error", "card_declined", "insufficient_funds", "insufficient_funds", "insufficient_funds"},
		{"card_error", "card_declined", "try_again_later", "card_declined", "try_again_later"},
		{"card_error", "something_new", "", "card_declined", "something_new"},
		{"invalid_request_error", "amount_too_small", "", "provider_rejected", "amount_too_small"},
		{"", "", "", "provider_rejected", ""},
	} {
		ours, stripes := webhooks.StripeFailureCode(c.errorType, c.code, c.decline)
		require.Equal(t, [2]string{c.ours, c.stripes}, [2]string{ours, stripes})
	}
	for reason, ours := range map[string]string{"automatic": "expired", "expired": "expired", "fraudulent": "fraud_suspected", "requested_by_customer": "canceled", "": "canceled"} {
		require.Equal(t, ours, webhooks.StripeCancellationCode(reason))
	}
}
