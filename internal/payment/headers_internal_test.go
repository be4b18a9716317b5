package payment

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsKeptOfADeliverysHeaders(t *testing.T) {
	t.Parallel()
	evidence := http.Header{
		"Webhook-Id": {"msg_1"}, "Webhook-Signature": {"v1,a", "v1,b"}, "Svix-Timestamp": {"1"}, "Stripe-Signature": {"t=1"},
		"X-Square-Hmacsha256-Signature": {"s"}, "Hmacsignature": {"h"}, "Content-Hmac": {"c"}, "X-Content-Hmac": {"c"},
		"Paypal-Transmission-Sig": {"p"}, "X-Razorpay-Event-Id": {"e"}, "Content-Type": {"application/json\xff"},
	}
	h := evidence.Clone()
	for _, credential := range []string{
		"Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "X-Webhook-Key", "X-Webhook-Token", "Webhook-Password",
		"X-Webhook-Secret", "Paypal-Auth-Token", "X-Forwarded-For",
	} {
		h.Set(credential, "s3cret")
	}
	kept := keptHeaders(h)
	require.Len(t, kept, len(evidence))
	require.Equal(t, "v1,a, v1,b", kept["webhook-signature"])
	require.Equal(t, "application/json\ufffd", kept["content-type"])
	for _, value := range kept {
		require.NotEqual(t, "s3cret", value)
	}
}
