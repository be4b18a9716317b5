package stripe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/stripe"
)

func TestAmountIsTheInverseOfStripeMoney(t *testing.T) {
	t.Parallel()
	for currency, amount := range map[string]int64{"EUR": 1200, "JPY": 1200, "KWD": 1200, "ISK": 120000, "UGX": 120000, "MGA": 12, "XTS": 1200} {
		money := webhooks.Money{Minor: 1200, Currency: currency}
		got, err := stripe.Amount(money)
		require.NoError(t, err)
		require.Equal(t, amount, got, currency)
		back, err := stripe.Money(got, currency)
		require.NoError(t, err)
		require.Equal(t, money, back)
	}
	_, err := stripe.Amount(webhooks.Money{Minor: 1250, Currency: "MGA"})
	require.ErrorIs(t, err, webhooks.ErrPayload)
	_, err = stripe.Money(1250, "isk")
	require.ErrorIs(t, err, webhooks.ErrPayload)
}

func TestCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ errorType, code, decline, ours, stripes string }{
		{"card_error", "card_declined", "insufficient_funds", "insufficient_funds", "insufficient_funds"},
		{"card_error", "card_declined", "try_again_later", "card_declined", "try_again_later"},
		{"card_error", "something_new", "", "card_declined", "something_new"},
		{"invalid_request_error", "amount_too_small", "", "provider_rejected", "amount_too_small"},
		{"", "", "", "provider_rejected", ""},
	} {
		ours, stripes := stripe.FailureCode(c.errorType, c.code, c.decline)
		require.Equal(t, [2]string{c.ours, c.stripes}, [2]string{string(ours), stripes})
	}
	for reason, ours := range map[string]webhooks.FailureCode{"automatic": "expired", "expired": "expired", "fraudulent": "fraud_suspected", "requested_by_customer": "canceled", "": "canceled"} {
		require.Equal(t, ours, stripe.CancellationCode(reason))
	}
}

// TestFailureCode: a shop's page shows the customer the next step by this code.
func TestFailureCode(t *testing.T) {
	t.Parallel()
	providertest.Reasons(t, func(code string) (webhooks.FailureCode, string) { return stripe.FailureCode("api_error", code, "") }, map[string]string{
		"card_declined":         "card_declined|do_not_honor|expired_card|generic_decline|incorrect_cvc|incorrect_number",
		"insufficient_funds":    "insufficient_funds",
		"authentication_failed": "authentication_not_handled|authentication_required|payment_intent_authentication_failure",
		"fraud_suspected":       "elevated_risk_level|fraudulent|highest_risk_level|lost_card|merchant_blacklist|pickup_card|stolen_card",
		"canceled":              "payment_method_customer_decline", "expired": "payment_intent_payment_attempt_expired", "provider_rejected": "|processing_error|new",
	})
	providertest.Reasons(t, func(decline string) (webhooks.FailureCode, string) {
		return stripe.FailureCode("card_error", "card_declined", decline)
	}, map[string]string{"provider_rejected": "processing_error"})
}
