package begin

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRemedy: paylatch keeps only a webhook whose signature is wrong, so only that remedy promises it.
func TestRemedy(t *testing.T) {
	t.Parallel()
	p := &Payment{Base: "http://127.0.0.1:8080", Endpoint: "https://tunnel.example/webhooks/shop", SecretsIn: "paylatch.env"}
	require.Contains(t, p.remedy("webhook-signature-invalid"), "paylatch.env (webhook_secrets)")
	require.Contains(t, p.remedy("webhook-signature-invalid"), "keeps the refused webhook for a day")
	for _, code := range []string{"webhook-signature-missing", "webhook-signature-malformed"} {
		require.Contains(t, p.remedy(code), p.Endpoint, code)
		require.Contains(t, p.remedy(code), "proxy", code)
		require.NotContains(t, p.remedy(code), "webhook_secrets", code)
		require.NotContains(t, p.remedy(code), "keeps", code)
	}
	for _, code := range []string{"webhook-too-old", "webhook-too-new"} {
		require.Contains(t, p.remedy(code), "NTP", code)
	}
	require.Equal(t, "http://127.0.0.1:8080/problems/webhook-sender-refused describes the code", p.remedy("webhook-sender-refused"))
}
