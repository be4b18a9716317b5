package provider_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/provider"
)

// The facts of an adapter for people are complete: a time of refunds has its source, and the words of a reason fit into a sentence.
func TestSupportFacts(t *testing.T) {
	t.Parallel()
	timed, reasoned := 0, 0
	for kind, a := range provider.Adapters() {
		require.Equal(t, a.RefundTime.Words == "", a.RefundTime.Source == "", kind)
		if a.RefundTime.Words != "" {
			u, err := url.Parse(a.RefundTime.Source)
			require.NoError(t, err)
			require.Equal(t, "https", u.Scheme, kind)
			require.NotEmpty(t, u.Host)
			require.NotContains(t, a.RefundTime.Words, ".", kind)
			timed++
		}
		for code, words := range a.DisputeReasons {
			require.Equal(t, strings.TrimSpace(code), code, kind)
			require.NotEmpty(t, words, "%s %s", kind, code)
			require.NotEqual(t, ".", words[len(words)-1:], "%s %s", kind, code)
			require.Equal(t, strings.ToLower(words[:1]), words[:1], "%s %s", kind, code)
		}
		if a.DisputeReasons != nil {
			reasoned++
		}
	}
	require.Equal(t, 4, timed, "adyen, paypal, razorpay, stripe")
	require.Equal(t, 8, reasoned, "adyen, braintree, checkout, mollie, paypal, razorpay, square, stripe")
	require.Equal(t, "the goods or the service did not arrive", provider.Adapters()["stripe"].DisputeReasons["product_not_received"])
	require.Equal(t, "fraud: the cardholder did not make the payment", provider.Adapters()["adyen"].DisputeReasons["10.4"])
}
