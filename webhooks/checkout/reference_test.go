package checkout_test

import (
	"fmt"
	"testing"

	"github.com/paylatch/paylatch/webhooks/checkout"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"payment_approved", "payment_captured"} {
		providertest.BegunElsewhere(t, newVerifier(t), checkout.About().Reference, func(text string, metadata map[string]string) string {
			return checkoutBody(name, fmt.Sprintf(`"id":"pay_1","amount":1999,"currency":"EUR","reference":%q,"metadata":%s`,
				text, providertest.JSON(metadata)))
		})
	}
}
