package provider_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

func TestPage(t *testing.T) {
	t.Parallel()
	const capture = "0AB12345CD678901E"
	params := map[string]string{"merchant_id": "m1"}
	testKeys := map[string]string{"stripe": "sk_test_1", "mollie": "test_1", "paddle": "pdl_sdbx_1", "gocardless": "sandbox_1", "checkout": "sk_sbox_1"}
	for kind, tt := range map[string]struct{ id, live, test string }{
		"stripe":     {"pi_1", "https://dashboard.stripe.com/payments/pi_1", "https://dashboard.stripe.com/test/payments/pi_1"},
		"mollie":     {"tr_1", "https://my.mollie.com/dashboard/payments/tr_1", "https://my.mollie.com/dashboard/payments/tr_1"},
		"paddle":     {"txn_1", "https://vendors.paddle.com/transactions-v2/txn_1", "https://sandbox-vendors.paddle.com/transactions-v2/txn_1"},
		"gocardless": {"PM1", "https://manage.gocardless.com/payments/PM1", "https://manage-sandbox.gocardless.com/payments/PM1"},
		"checkout":   {"pay_1", "https://dashboard.checkout.com/payments/all-payments/payment/pay_1", ""},
		"paypal":     {"5O190127TN364715T", "https://www.paypal.com/activity/payment/" + capture, "https://www.sandbox.paypal.com/activity/payment/" + capture},
		"square":     {"GQTFp1ZlXdpoW4o6eGiZhbjosiDFf", "https://squareup.com/dashboard/sales/transactions/GQTFp1ZlXdpoW4o6eGiZhbjosiDFf", "https://squareupsandbox.com/dashboard/sales/transactions/GQTFp1ZlXdpoW4o6eGiZhbjosiDFf"},
		"braintree":  {"8f5e", "https://www.braintreegateway.com/merchants/m1/transactions/8f5e", "https://sandbox.braintreegateway.com/merchants/m1/transactions/8f5e"},
		"sandbox":    {"ch_1", "", ""},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			a := provider.Adapters()[kind]
			require.Equal(t, tt.live, a.Page(kit.Settings{Params: params}, tt.id, capture))
			tests := kit.Settings{Params: map[string]string{"merchant_id": "m1", "api_key": testKeys[kind]}}
			if a.TestForm == nil && len(a.TestHosts) > 0 {
				tests.BaseURL = "https://api." + a.TestHosts[0]
			}
			require.Equal(t, tt.test, a.Page(tests, tt.id, capture))
		})
	}
	adyen := provider.Adapters()["adyen"]
	require.Equal(t, "https://ca-test.adyen.com/ca/ca/accounts/showTx.shtml?pspReference=7914073381342284&txType=Payment", adyen.Page(kit.Settings{}, "7914073381342284", ""))
	live := kit.Settings{BaseURL: "https://prefix-checkout-live.adyenpayments.com/checkout"}
	require.Equal(t, "https://ca-live.adyen.com/ca/ca/accounts/showTx.shtml?pspReference=7914073381342284&txType=Payment", adyen.Page(live, "7914073381342284", ""))
	require.Empty(t, provider.Adapters()["braintree"].Page(kit.Settings{}, "8f5e", ""), "without the merchant there is no address")
}

// TestDashboards: each dashboard's form is an https address, and an invalid id gives no address.
func TestDashboards(t *testing.T) {
	t.Parallel()
	const hostile = `javascript:alert(1) ../../x //evil.example {id} "><script> https://evil.example pi_1/../x pi_1?x=1`
	for kind, a := range provider.Adapters() {
		for _, address := range []string{a.Dashboard.Live, a.Dashboard.Test} {
			if address == "" {
				continue
			}
			u, err := url.Parse(strings.NewReplacer("{", "", "}", "").Replace(address))
			require.NoError(t, err)
			require.Equal(t, "https", u.Scheme, kind)
			require.NotNil(t, a.Dashboard.Form, kind)
			require.NotContains(t, u.Host, "id", kind)
		}
		for _, id := range append(strings.Fields(hostile), "") {
			require.Empty(t, a.Page(kit.Settings{Params: map[string]string{"merchant_id": "m1"}}, id, id), "%s: %s", kind, id)
		}
	}
}
