package adyen_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

// TestPayment: only an authorisation is named by its own reference, and what was offered is no payment.
func TestPayment(t *testing.T) {
	t.Parallel()
	const of, none = `,"originalReference":"PSP0"`, ""
	for name, test := range map[string]struct{ code, members, payment, container string }{
		"authorised":              {"AUTHORISATION", none, "PSP1", ""},
		"pending":                 {"PENDING", none, "PSP1", ""},
		"expired":                 {"EXPIRE", none, "PSP1", ""},
		"expired, by its payment": {"EXPIRE", of, "PSP0", ""},
		"captured":                {"CAPTURE", of, "PSP0", ""},
		"captured, of which":      {"CAPTURE", none, "", ""},
		"cancelled":               {"TECHNICAL_CANCEL", of, "PSP0", ""},
		"cancelled, of which":     {"CANCELLATION", none, "", ""},
		"refunded, of which":      {"REFUND", none, "", ""},
		"charged back, of which":  {"CHARGEBACK", none, "", ""},
		"never paid":              {"OFFER_CLOSED", none, "", "PSP1"},
	} {
		e := providertest.Parsed(t, newVerifier(t), adyenBody(adyenItem(test.code, "true", test.members)))
		require.Equal(t, test.payment, e.ProviderPaymentID, name)
		require.Equal(t, test.container, e.Container, name)
		require.Equal(t, "Shop", e.Payee, name)
		require.False(t, e.BrowserMark, name)
	}
}
