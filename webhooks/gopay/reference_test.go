package gopay_test

import (
	"net/url"
	"testing"

	"github.com/paylatch/paylatch/webhooks/gopay"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

// TestBegunElsewhere has the id in the address that the shop gives GoPay.
func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	providertest.BegunElsewhere(t, queried{newVerifier(t)}, gopay.About().Reference, func(_ string, metadata map[string]string) string {
		query := url.Values{"id": {"3000006529"}}
		for name, value := range metadata {
			query.Set(name, value)
		}
		return "https://pay.example/webhooks/gp?" + query.Encode()
	})
}
